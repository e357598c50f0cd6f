import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { closedBody } from '../../../http/limits.ts'
import { listSchema, pageParameters, pageReply, toPage } from '../../../http/paging.ts'
import { defineQuery } from '../../../http/query.ts'
import { objectType, text } from '../../../http/schema.ts'
import type { KeyRecord } from '../../../storage/ports/accounts.ts'
import { expiryAfter, type OwnKeys, redacted } from './own-keys.ts'
import { describeManagement, type PermissionGuard, secondsOf, secondsOrNull } from './permission.ts'
import {
  DeletedKey,
  lifetimeField,
  nameField,
  openaiKeyProperties,
  ownerSchema,
} from './project-key-schema.ts'

const path = '/v1/organization/admin_api_keys'
const itemPath = `${path}/:key_id` as const
const listQuery = defineQuery(pageParameters('admin API key', 'asc'))

const properties = {
  object: objectType('organization.admin_api_key'),
  ...openaiKeyProperties,
  owner: ownerSchema('The API key itself: Weir has no users.'),
}
const AdminApiKey = Type.Object(properties, { title: 'AdminApiKey' })
const CreatedAdminApiKey = Type.Object(
  { ...properties, value: text('The API key. It is shown only here.') },
  { title: 'CreatedAdminApiKey' },
)

const newAdminKey = closedBody('NewAdminApiKey', { name: nameField, expires_in_seconds: lifetimeField })

const described = {
  path: { key_id: 'The ID of an API key with the permission `admin`.' },
  reply: AdminApiKey,
} as const
const listDetail = describeManagement({
  id: 'listAdminApiKeys',
  summary: 'List the admin API keys of the organization',
  description: 'Lists the API keys with the permission `admin` that are not revoked.',
  query: listQuery.parameters,
  reply: listSchema(AdminApiKey, 'AdminApiKeyList'),
})
const createDetail = describeManagement({
  id: 'createAdminApiKey',
  summary: 'Create an admin API key of the organization',
  description:
    'Creates an API key that manages the organization, and may use no model. Only the response contains the API key itself.',
  body: newAdminKey,
  examples: { day: { summary: 'A key for a day', value: { name: 'terraform', expires_in_seconds: 86_400 } } },
  reply: CreatedAdminApiKey,
})
const findDetail = describeManagement({
  ...described,
  id: 'getAdminApiKey',
  summary: 'Get an admin API key of the organization',
  description: 'Returns an API key with the permission `admin`, without its secret.',
})
const removeDetail = describeManagement({
  ...described,
  id: 'deleteAdminApiKey',
  summary: 'Revoke an admin API key of the organization',
  description: 'Revokes an API key with the permission `admin`. Requests with it are rejected at once.',
  reply: DeletedKey,
})

const scope = { permission: 'admin' } as const

/** The keys that manage an organization, as OpenAI's API has them. */
export function adminKeyRoutes(guard: PermissionGuard, keys: OwnKeys) {
  return new Elysia({ name: 'admin-api-keys' })
    .use(guard)
    .get(
      path,
      async ({ caller, request }) => {
        const page = await keys.page(caller, scope, toPage(listQuery.read(request)))
        return pageReply(page, 'an admin API key', (records) => records.map(render))
      },
      { detail: listDetail },
    )
    .post(
      path,
      async ({ readChange, caller }) => {
        const { name, expires_in_seconds: lifetime } = await readChange(newAdminKey)
        const createdAt = Date.now()
        const input = { name, expiresAt: expiryAfter(lifetime, createdAt), createdAt }
        const { record, key } = await keys.create(caller, { ...input, permissions: ['admin'], models: [] })
        return { ...render(record), value: key.reveal() }
      },
      { detail: createDetail },
    )
    .get(itemPath, async ({ caller, params }) => render(await keys.find(caller, scope, params.key_id)), {
      detail: findDetail,
    })
    .delete(
      itemPath,
      async ({ caller, params }) => {
        const { id } = await keys.revoke(caller, scope, params.key_id)
        return { id, object: 'organization.admin_api_key.deleted', deleted: true }
      },
      { detail: removeDetail },
    )
}

function render(record: KeyRecord) {
  const { id, name, createdAt, expiresAt } = record
  const created_at = secondsOf(createdAt)
  return {
    object: 'organization.admin_api_key',
    id,
    name,
    created_at,
    expires_at: secondsOrNull(expiresAt),
    last_used_at: null,
    redacted_value: redacted(record),
    content_log: record.contentLog,
    owner: {
      type: 'service_account',
      object: 'organization.service_account',
      id,
      name,
      created_at,
      role: 'owner',
    },
  }
}
