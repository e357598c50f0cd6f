import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { describe } from '../../http/describe.ts'
import { expiryOf } from '../../http/expiry.ts'
import { toAllowanceChange } from '../../http/limits.ts'
import { invalidCursor, pageParameters, renderSlice, searchParameter, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { jsonText } from '../../http/reply.ts'
import { stringEnum } from '../../http/schema.ts'
import type { KeyChange, KeyRecord } from '../../storage/ports/accounts.ts'
import { adminErrors, type AdminGuard, changeErrors } from './admin-guard.ts'
import { heldDescription } from './held-budgets.ts'
import { ApiKeyList, ApiKeyObject, CreatedApiKey, keyRotation, keyUpdate, newKey } from './key-schema.ts'
import { nearEndParameter, nearEndTime } from './near-end.ts'
import { type KeyService, renderNewKey } from './keys.ts'

const path = '/admin/keys'
const itemPath = `${path}/:key` as const
const pathParameters = { key: 'The ID of an API key.' }
const listQuery = defineQuery({
  ...pageParameters('API key', 'asc'),
  organization: Type.Optional(
    Type.String({ description: 'Only keys of this organization. Its ID or its name.' }),
  ),
  project: Type.Optional(Type.String({ description: 'Only keys of the project with this ID.' })),
  usable: Type.Optional(
    stringEnum(['true', 'false'], {
      description: 'Whether only keys that are neither revoked nor expired are listed.',
    }),
  ),
  near_end: nearEndParameter(
    'keys that can be used and expire within 7 days or have used 80 % of their budget',
  ),
  search: searchParameter('keys'),
})
const described = { tag: 'Admin', reply: ApiKeyObject, path: pathParameters } as const

const listDetail = describe({
  tag: 'Admin',
  id: 'listApiKeys',
  summary: 'List API keys',
  description:
    'Lists the API keys of all organizations, of one, or of a project, with their limits and without their secrets.',
  query: listQuery.parameters,
  reply: ApiKeyList,
  errors: [400, 404, ...adminErrors],
})
const createDetail = describe({
  tag: 'Admin',
  id: 'createApiKey',
  summary: 'Create an API key',
  description: 'Creates an API key of an organization. Only the response contains the API key itself.',
  body: newKey,
  examples: {
    expiring: {
      summary: 'A key that expires',
      value: { organization: 'default', name: 'ci', expires_in: '90d' },
    },
    budget: {
      summary: 'A key with a daily budget',
      value: { organization: 'default', name: 'agent', budget_usd: '5', budget_period: 'day' },
    },
  },
  reply: CreatedApiKey,
  errors: [404, ...changeErrors],
})
const findDetail = describe({
  ...described,
  id: 'getApiKey',
  summary: 'Get an API key',
  description: 'Returns an API key with its limits and what is left of its budget, without its secret.',
  errors: [404, ...adminErrors],
})
const updateDetail = describe({
  ...described,
  id: 'updateApiKey',
  summary: 'Change an API key',
  description: 'Changes the limits and other properties of an API key. Absent fields stay as they are.',
  body: keyUpdate,
  examples: {
    budget: {
      summary: 'A daily budget and a few models',
      value: { budget_usd: '5', budget_period: 'day', models: ['anthropic/*'] },
    },
  },
  errors: [404, ...changeErrors],
})
const releaseDetail = describe({
  ...described,
  id: 'releaseApiKeyBudget',
  summary: 'Release what is held of the budget of an API key',
  description: heldDescription,
  errors: [400, 404, ...adminErrors],
})
const revokeDetail = describe({
  ...described,
  id: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'Revokes an API key and those that it has created. Requests with them are rejected at once.',
  errors: [404, ...adminErrors],
})
const rotateDetail = describe({
  ...described,
  id: 'rotateApiKey',
  summary: 'Rotate an API key',
  description:
    'Creates an API key with the same properties and lifetime; both spend one budget. The old one works until its grace period ends.',
  body: keyRotation,
  examples: { grace: { summary: 'A grace period of an hour', value: { grace: '1h' } } },
  reply: CreatedApiKey,
  errors: [404, ...changeErrors],
})

/** The routes of API keys. */
export function keyAdminRoutes(guard: AdminGuard, service: KeyService) {
  return new Elysia({ name: 'admin-keys' })
    .use(guard)
    .get(path, ({ request }) => listPage(service, request), { detail: listDetail })
    .post(
      path,
      async ({ readChange, request, actor }) => {
        const { organization, name, ...properties } = await readChange(request, newKey)
        const input = { ...toChange(properties), organization, name: name ?? 'unnamed' }
        return renderNewKey(service, await service.create(actor, input))
      },
      { detail: createDetail },
    )
    .use(itemRoutes(guard, service))
}

function itemRoutes(guard: AdminGuard, service: KeyService) {
  return new Elysia({ name: 'admin-key' })
    .use(guard)
    .get(itemPath, ({ params }) => toObject(service, service.find(params.key)), { detail: findDetail })
    .patch(
      itemPath,
      async ({ readChange, request, params, actor }) => {
        const change = toChange(await readChange(request, keyUpdate))
        return toObject(service, service.change(actor, params.key, change))
      },
      { detail: updateDetail },
    )
    .post(
      `${itemPath}/release_held`,
      ({ params, actor }) => toObject(service, service.releaseHeld(actor, params.key)),
      { detail: releaseDetail },
    )
    .post(`${itemPath}/revoke`, ({ params, actor }) => toObject(service, service.revoke(actor, params.key)), {
      detail: revokeDetail,
    })
    .post(
      `${itemPath}/rotate`,
      async ({ readChange, request, params, actor }) => {
        const { grace } = await readChange(request, keyRotation)
        return renderNewKey(service, await service.rotate(actor, params.key, grace ?? undefined))
      },
      { detail: rotateDetail },
    )
}

function toChange(body: ReturnType<typeof keyUpdate.read>): KeyChange {
  const { name, project, permissions, tags, note, content_log } = body
  return {
    ...toAllowanceChange(body),
    name: name ?? undefined,
    project,
    expiresAt: expiryOf(body, Date.now()),
    permissions,
    tags,
    note,
    contentLog: content_log,
  }
}

async function toObject(service: KeyService, record: Promise<KeyRecord>) {
  const [rendered] = await service.render([await record])
  return rendered
}

async function listPage(service: KeyService, request: Request): Promise<Response> {
  const { usable, near_end, ...query } = listQuery.read(request)
  const usableAt = usable === 'true' ? Date.now() : undefined
  const found = await service.page({ ...query, usableAt, nearEndAt: nearEndTime(near_end) }, toPage(query))
  if (found === undefined) throw invalidCursor('an API key of this list')
  return jsonText(renderSlice({ ...found, items: await service.render(found.items) }))
}
