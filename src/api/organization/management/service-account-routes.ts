import { Elysia } from 'elysia'
import { bodyErrors, describe, guardErrors } from '../../../http/describe.ts'
import { toAllowanceChange } from '../../../http/limits.ts'
import { pageParameters, renderSlice } from '../../../http/paging.ts'
import { jsonText } from '../../../http/reply.ts'
import { expiryAfter } from './own-keys.ts'
import type { PermissionGuard } from './permission.ts'
import {
  CreatedServiceAccount,
  DeletedKey,
  newServiceAccount,
  ServiceAccount,
  ServiceAccountList,
} from './project-key-schema.ts'
import { type ProjectKeyDependencies, pageOfProject } from './project-key-routes.ts'
import { renderNewServiceAccount, renderServiceAccount } from './project-keys.ts'
import { projectParameter, projectPath } from './project-routes.ts'

const path = `${projectPath}/service_accounts` as const
const itemPath = `${path}/:service_account_id` as const
const permission = 'Requires an API key with the permission `admin`.'
const described = {
  tag: 'Organization',
  path: { ...projectParameter, service_account_id: 'The ID of a service account of the project.' },
  reply: ServiceAccount,
} as const

const listDetail = describe({
  tag: 'Organization',
  id: 'listServiceAccounts',
  summary: 'List the service accounts of a project',
  description: `Lists the API keys of a project as service accounts. ${permission}`,
  path: projectParameter,
  query: pageParameters('service account', 'asc'),
  reply: ServiceAccountList,
  errors: [400, 404, ...guardErrors],
})
const createDetail = describe({
  tag: 'Organization',
  id: 'createServiceAccount',
  summary: 'Create a service account of a project',
  description: `Creates an API key of a project, which is its own service account. Only the response contains the API key itself. ${permission}`,
  path: projectParameter,
  body: newServiceAccount,
  examples: {
    budget: {
      summary: 'A key with a daily budget',
      value: { name: 'ci', budget_usd: '5', budget_period: 'day' },
    },
  },
  reply: CreatedServiceAccount,
  errors: [404, ...bodyErrors],
})
const findDetail = describe({
  ...described,
  id: 'getServiceAccount',
  summary: 'Get a service account of a project',
  description: `Returns an API key of a project as a service account. ${permission}`,
  errors: [404, ...guardErrors],
})
const removeDetail = describe({
  ...described,
  id: 'deleteServiceAccount',
  summary: 'Delete a service account of a project',
  description: `Revokes the API key of a service account. Requests with it are rejected at once. ${permission}`,
  reply: DeletedKey,
  errors: [404, ...guardErrors],
})

/** The API keys of projects as service accounts, by which OpenAI's API creates keys. */
export function serviceAccountRoutes(guard: PermissionGuard, parts: ProjectKeyDependencies) {
  const { projects, keys } = parts
  return new Elysia({ name: 'service-accounts' })
    .use(guard)
    .get(
      path,
      async ({ caller, request, params }) => {
        const page = await pageOfProject(parts, caller, params.project_id, request)
        return jsonText(renderSlice({ ...page, items: page.items.map(renderServiceAccount) }))
      },
      { detail: listDetail },
    )
    .post(
      path,
      async ({ readBody, request, caller, admission, params }) => {
        const body = await readBody(request, newServiceAccount, { admission, caller }, { isFree: true })
        const { id: project } = await projects.findActive(caller, params.project_id)
        const expiresAt = expiryAfter(body.expires_in_seconds)
        const input = { ...toAllowanceChange(body), name: body.name, project, expiresAt }
        return renderNewServiceAccount(await keys.create(caller, input))
      },
      { detail: createDetail },
    )
    .get(
      itemPath,
      async ({ caller, params }) => {
        const scope = { projectId: params.project_id }
        return renderServiceAccount(await keys.find(caller, scope, params.service_account_id))
      },
      { detail: findDetail },
    )
    .delete(
      itemPath,
      async ({ caller, params }) => {
        const { id } = await keys.revoke(caller, { projectId: params.project_id }, params.service_account_id)
        return { id, object: 'organization.project.service_account.deleted', deleted: true }
      },
      { detail: removeDetail },
    )
}
