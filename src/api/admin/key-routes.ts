import { Elysia } from 'elysia'
import { invalidCursor, pageParameters, renderSlice, toPage } from '../../http/paging.ts'
import { jsonText } from '../../http/reply.ts'
import { describe } from '../../http/describe.ts'
import { defineQuery } from '../../http/query.ts'
import type { KeyRecord, NewKey } from '../../storage/ports/accounts.ts'
import { adminErrors, type AdminGuard, changeErrors } from './admin-guard.ts'
import { keyJson, type KeyService, newKeyJson } from './keys.ts'
import { ApiKeyList, ApiKeyObject, CreatedApiKey, keyRotation, newKey } from './schema.ts'

const path = '/admin/keys'
const pathParameters = { key: 'The ID of an API key.' }
const listQuery = defineQuery(pageParameters('API key', 'asc'))

const listDetail = describe({
  tag: 'Admin',
  id: 'listApiKeys',
  summary: 'List API keys',
  description: 'Lists the API keys of all organizations, without their secrets.',
  query: listQuery.parameters,
  reply: ApiKeyList,
  errors: [400, ...adminErrors],
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
  },
  reply: CreatedApiKey,
  errors: [404, ...changeErrors],
})
const revokeDetail = describe({
  tag: 'Admin',
  id: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'Revokes an API key. Requests with it are rejected at once.',
  path: pathParameters,
  reply: ApiKeyObject,
  errors: [404, ...adminErrors],
})
const rotateDetail = describe({
  tag: 'Admin',
  id: 'rotateApiKey',
  summary: 'Rotate an API key',
  description:
    'Creates an API key with the same name, organization and lifetime. The old one works until its grace period ends.',
  path: pathParameters,
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
      async ({ readChange, request }) => {
        const { organization, name, expires_in } = await readChange(request, newKey)
        return toCreated(await service.create(organization, name ?? 'unnamed', expires_in ?? undefined))
      },
      { detail: createDetail },
    )
    .post(`${path}/:key/revoke`, async ({ params }) => toObject(await service.revoke(params.key)), {
      detail: revokeDetail,
    })
    .post(
      `${path}/:key/rotate`,
      async ({ readChange, request, params }) => {
        const { grace } = await readChange(request, keyRotation)
        return toCreated(await service.rotate(params.key, grace ?? undefined))
      },
      { detail: rotateDetail },
    )
}

function toObject(record: KeyRecord) {
  return { object: 'api_key', ...keyJson(record) }
}

function toCreated(created: NewKey) {
  return { object: 'api_key', ...newKeyJson(created) }
}

async function listPage(service: KeyService, request: Request): Promise<Response> {
  const page = await service.page(toPage(listQuery.read(request)))
  if (page === undefined) throw invalidCursor('an API key')
  return jsonText(renderSlice({ ...page, items: page.items.map(toObject) }))
}
