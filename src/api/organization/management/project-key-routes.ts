import { Elysia } from 'elysia'
import { toAllowanceChange } from '../../../http/limits.ts'
import { pageParameters, pageReply, toPage } from '../../../http/paging.ts'
import { defineQuery } from '../../../http/query.ts'
import type { KeyRecord } from '../../../storage/ports/accounts.ts'
import {
  expiryAfter,
  type OwnKeys,
  renderNewServiceAccount,
  renderProjectKey,
  renderServiceAccount,
} from './own-keys.ts'
import type { OwnProjects } from './own-projects.ts'
import { describeManagement, type Manager, type PermissionGuard } from './permission.ts'
import {
  CreatedServiceAccount,
  DeletedKey,
  newServiceAccount,
  ProjectApiKey,
  ProjectApiKeyList,
  projectKeyUpdate,
  ServiceAccount,
  ServiceAccountList,
} from './project-key-schema.ts'
import { projectParameter, projectPath } from './project-routes.ts'

const keysPath = `${projectPath}/api_keys` as const
const keyPath = `${keysPath}/:api_key_id` as const
const accountsPath = `${projectPath}/service_accounts` as const
const accountPath = `${accountsPath}/:service_account_id` as const
const listQuery = defineQuery(pageParameters('API key', 'asc'))

const describedKey = {
  path: { ...projectParameter, api_key_id: 'The ID of an API key of the project.' },
  reply: ProjectApiKey,
}
const listDetail = describeManagement({
  id: 'listProjectApiKeys',
  summary: 'List the API keys of a project',
  description: 'Lists the API keys of a project that are not revoked, with their limits.',
  path: projectParameter,
  query: listQuery.parameters,
  reply: ProjectApiKeyList,
})
const findDetail = describeManagement({
  ...describedKey,
  id: 'getProjectApiKey',
  summary: 'Get an API key of a project',
  description: 'Returns an API key with its limits and what is left of its budget.',
})
const updateDetail = describeManagement({
  ...describedKey,
  id: 'updateProjectApiKey',
  summary: 'Change an API key of a project',
  description: 'Changes the name, the expiry and the limits of an API key. Absent fields stay as they are.',
  body: projectKeyUpdate,
  examples: {
    budget: { summary: 'A daily budget', value: { budget_usd: '5', budget_period: 'day' } },
  },
})
const removeDetail = describeManagement({
  ...describedKey,
  id: 'deleteProjectApiKey',
  summary: 'Revoke an API key of a project',
  description: 'Revokes an API key. Requests with it are rejected at once.',
  reply: DeletedKey,
})

const describedAccount = {
  path: { ...projectParameter, service_account_id: 'The ID of a service account of the project.' },
  reply: ServiceAccount,
}
const listAccountsDetail = describeManagement({
  id: 'listServiceAccounts',
  summary: 'List the service accounts of a project',
  description: 'Lists the API keys of a project as service accounts.',
  path: projectParameter,
  query: pageParameters('service account', 'asc'),
  reply: ServiceAccountList,
})
const createAccountDetail = describeManagement({
  id: 'createServiceAccount',
  summary: 'Create a service account of a project',
  description:
    'Creates an API key of a project, which is its own service account. Only the response contains the API key itself.',
  path: projectParameter,
  body: newServiceAccount,
  examples: {
    budget: {
      summary: 'A key with a daily budget',
      value: { name: 'ci', budget_usd: '5', budget_period: 'day' },
    },
  },
  reply: CreatedServiceAccount,
})
const findAccountDetail = describeManagement({
  ...describedAccount,
  id: 'getServiceAccount',
  summary: 'Get a service account of a project',
  description: 'Returns an API key of a project as a service account.',
})
const removeAccountDetail = describeManagement({
  ...describedAccount,
  id: 'deleteServiceAccount',
  summary: 'Delete a service account of a project',
  description: 'Revokes the API key of a service account. Requests with it are rejected at once.',
  reply: DeletedKey,
})

type ProjectKeyDependencies = { readonly projects: OwnProjects; readonly keys: OwnKeys }

/** The API keys of projects, as OpenAI's API has them. */
export function projectKeyRoutes(guard: PermissionGuard, parts: ProjectKeyDependencies) {
  const { keys } = parts
  return new Elysia({ name: 'project-api-keys' })
    .use(guard)
    .get(
      keysPath,
      ({ caller, request, params }) =>
        listPage(parts, caller, params.project_id, request, (records) => renderAll(keys, records)),
      { detail: listDetail },
    )
    .get(
      keyPath,
      async ({ caller, params }) => {
        const key = await keys.find(caller, { projectId: params.project_id }, params.api_key_id)
        return (await renderAll(keys, [key]))[0]
      },
      { detail: findDetail },
    )
    .post(
      keyPath,
      async ({ readChange, caller, params }) => {
        const body = await readChange(projectKeyUpdate)
        const { name, expires_in_seconds: lifetime } = body
        const expiresAt = lifetime == null ? undefined : expiryAfter(lifetime, Date.now())
        const change = { ...toAllowanceChange(body), name, expiresAt }
        const scope = { projectId: params.project_id }
        return (await renderAll(keys, [await keys.change(caller, scope, params.api_key_id, change)]))[0]
      },
      { detail: updateDetail },
    )
    .delete(
      keyPath,
      async ({ caller, params }) => {
        const { id } = await keys.revoke(caller, { projectId: params.project_id }, params.api_key_id)
        return { id, object: 'organization.project.api_key.deleted', deleted: true }
      },
      { detail: removeDetail },
    )
    .use(serviceAccountRoutes(guard, parts))
}

/** The API keys of projects as service accounts, by which OpenAI's API creates keys. */
function serviceAccountRoutes(guard: PermissionGuard, parts: ProjectKeyDependencies) {
  const { projects, keys } = parts
  return new Elysia({ name: 'service-accounts' })
    .use(guard)
    .get(
      accountsPath,
      ({ caller, request, params }) =>
        listPage(parts, caller, params.project_id, request, (records) => records.map(renderServiceAccount)),
      { detail: listAccountsDetail },
    )
    .post(
      accountsPath,
      async ({ readChange, caller, params }) => {
        const body = await readChange(newServiceAccount)
        const { id: project } = await projects.findActive(caller, params.project_id)
        const createdAt = Date.now()
        const expiresAt = expiryAfter(body.expires_in_seconds, createdAt)
        const input = { ...toAllowanceChange(body), name: body.name, project, expiresAt, createdAt }
        return renderNewServiceAccount(await keys.create(caller, input))
      },
      { detail: createAccountDetail },
    )
    .get(
      accountPath,
      async ({ caller, params }) => {
        const scope = { projectId: params.project_id }
        return renderServiceAccount(await keys.find(caller, scope, params.service_account_id))
      },
      { detail: findAccountDetail },
    )
    .delete(
      accountPath,
      async ({ caller, params }) => {
        const { id } = await keys.revoke(caller, { projectId: params.project_id }, params.service_account_id)
        return { id, object: 'organization.project.service_account.deleted', deleted: true }
      },
      { detail: removeAccountDetail },
    )
}

/** Replies with the page of the keys of a project that the request selects; throws 404 for a project of another organization. */
async function listPage(
  { projects, keys }: ProjectKeyDependencies,
  caller: Manager,
  projectId: string,
  request: Request,
  render: Parameters<typeof pageReply<KeyRecord>>[2],
): Promise<Response> {
  await projects.find(caller, projectId)
  const page = await keys.page(caller, { projectId }, toPage(listQuery.read(request)))
  return pageReply(page, 'an API key of the project', render)
}

async function renderAll(keys: OwnKeys, records: readonly KeyRecord[]) {
  const found = await keys.withBudgets(records)
  return found.map((key) => renderProjectKey(key, Date.now()))
}
