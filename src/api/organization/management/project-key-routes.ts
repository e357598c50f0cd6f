import { Elysia } from 'elysia'
import { bodyErrors, describe, guardErrors } from '../../../http/describe.ts'
import { toAllowanceChange } from '../../../http/limits.ts'
import { invalidCursor, pageParameters, renderSlice, toPage } from '../../../http/paging.ts'
import { defineQuery } from '../../../http/query.ts'
import { jsonText } from '../../../http/reply.ts'
import type { KeyRecord } from '../../../storage/ports/accounts.ts'
import { expiryAfter, type OwnKeys } from './own-keys.ts'
import type { OwnProjects } from './own-projects.ts'
import type { Manager, PermissionGuard } from './permission.ts'
import { DeletedKey, ProjectApiKey, ProjectApiKeyList, projectKeyUpdate } from './project-key-schema.ts'
import { renderProjectKey } from './project-keys.ts'
import { projectParameter, projectPath } from './project-routes.ts'

const path = `${projectPath}/api_keys` as const
const itemPath = `${path}/:api_key_id` as const
const listQuery = defineQuery(pageParameters('API key', 'asc'))
const permission = 'Requires an API key with the permission `admin`.'
const described = {
  tag: 'Organization',
  path: { ...projectParameter, api_key_id: 'The ID of an API key of the project.' },
  reply: ProjectApiKey,
} as const

const listDetail = describe({
  tag: 'Organization',
  id: 'listProjectApiKeys',
  summary: 'List the API keys of a project',
  description: `Lists the API keys of a project that are not revoked, with their limits. ${permission}`,
  path: projectParameter,
  query: listQuery.parameters,
  reply: ProjectApiKeyList,
  errors: [400, 404, ...guardErrors],
})
const findDetail = describe({
  ...described,
  id: 'getProjectApiKey',
  summary: 'Get an API key of a project',
  description: `Returns an API key with its limits and what is left of its budget. ${permission}`,
  errors: [404, ...guardErrors],
})
const updateDetail = describe({
  ...described,
  id: 'updateProjectApiKey',
  summary: 'Change an API key of a project',
  description: `Changes the name, the expiry and the limits of an API key. Absent fields stay as they are. ${permission}`,
  body: projectKeyUpdate,
  examples: {
    budget: { summary: 'A daily budget', value: { budget_usd: '5', budget_period: 'day' } },
  },
  errors: [404, ...bodyErrors],
})
const removeDetail = describe({
  ...described,
  id: 'deleteProjectApiKey',
  summary: 'Revoke an API key of a project',
  description: `Revokes an API key. Requests with it are rejected at once. ${permission}`,
  reply: DeletedKey,
  errors: [404, ...guardErrors],
})

export type ProjectKeyDependencies = { readonly projects: OwnProjects; readonly keys: OwnKeys }

/** The API keys of projects, as OpenAI's API has them. */
export function projectKeyRoutes(guard: PermissionGuard, { projects, keys }: ProjectKeyDependencies) {
  return new Elysia({ name: 'project-api-keys' })
    .use(guard)
    .get(
      path,
      async ({ caller, request, params }) => {
        const page = await pageOfProject({ projects, keys }, caller, params.project_id, request)
        const rendered = await keys.withBudgets(page.items)
        const items = rendered.map((found) => renderProjectKey(found, Date.now()))
        return jsonText(renderSlice({ ...page, items }))
      },
      { detail: listDetail },
    )
    .get(
      itemPath,
      ({ caller, params }) =>
        toObject(keys, keys.find(caller, { projectId: params.project_id }, params.api_key_id)),
      { detail: findDetail },
    )
    .post(
      itemPath,
      async ({ readBody, request, caller, admission, params }) => {
        const body = await readBody(request, projectKeyUpdate, { admission, caller }, { isFree: true })
        const { name, expires_in_seconds: lifetime } = body
        const expiresAt = lifetime == null ? undefined : expiryAfter(lifetime)
        const change = { ...toAllowanceChange(body), name, expiresAt }
        const scope = { projectId: params.project_id }
        return toObject(keys, keys.change(caller, scope, params.api_key_id, change))
      },
      { detail: updateDetail },
    )
    .delete(
      itemPath,
      async ({ caller, params }) => {
        const { id } = await keys.revoke(caller, { projectId: params.project_id }, params.api_key_id)
        return { id, object: 'organization.project.api_key.deleted', deleted: true }
      },
      { detail: removeDetail },
    )
}

/** Reads the page of the keys of a project that the request selects; throws 404 for a project of another organization. */
export async function pageOfProject(
  { projects, keys }: ProjectKeyDependencies,
  caller: Manager,
  projectId: string,
  request: Request,
) {
  await projects.find(caller, projectId)
  const page = await keys.page(caller, { projectId }, toPage(listQuery.read(request)))
  if (page === undefined) throw invalidCursor('an API key of the project')
  return page
}

async function toObject(keys: OwnKeys, record: Promise<KeyRecord>) {
  const found = await keys.withBudgets([await record])
  return found.map((key) => renderProjectKey(key, Date.now()))[0]
}
