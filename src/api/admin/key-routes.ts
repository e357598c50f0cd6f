import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { expiryOf } from '../../http/expiry.ts'
import { toAllowanceChange } from '../../http/limits.ts'
import { listSchema, pageParameters, pageReply, searchParameter, toPage } from '../../http/paging.ts'
import { defineQuery } from '../../http/query.ts'
import { renderOne } from '../../http/render-accounts.ts'
import { stringEnum, text } from '../../http/schema.ts'
import type { KeyChange } from '../../storage/ports/accounts.ts'
import { heldDescription, nearEndParameter, nearEndTime } from './accounts.ts'
import { type AdminGuard, describeAdmin } from './admin-guard.ts'
import { keyRotation, keyUpdate, newKey } from './key-schema.ts'
import { ApiKeyObject, CreatedApiKey } from '../../http/objects/accounts.ts'
import { type KeyService, renderNewKey } from './keys.ts'

const path = '/admin/keys'
const itemPath = `${path}/:key` as const
const listQuery = defineQuery({
  ...pageParameters('API key', 'asc'),
  organization: Type.Optional(text('Only keys of this organization. Its ID or its name.')),
  project: Type.Optional(text('Only keys of the project with this ID.')),
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
const described = { reply: ApiKeyObject, path: { key: 'The ID of an API key.' } } as const

const listDetail = describeAdmin({
  id: 'listApiKeys',
  summary: 'List API keys',
  description:
    'Lists the API keys of all organizations, of one, or of a project, with their limits and without their secrets.',
  query: listQuery.parameters,
  reply: listSchema(ApiKeyObject, 'ApiKeyList'),
  errors: [404],
})
const createDetail = describeAdmin({
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
  errors: [404],
})
const findDetail = describeAdmin({
  ...described,
  id: 'getApiKey',
  summary: 'Get an API key',
  description: 'Returns an API key with its limits and what is left of its budget, without its secret.',
})
const updateDetail = describeAdmin({
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
})
const releaseDetail = describeAdmin({
  ...described,
  ...heldDescription('an API key'),
  id: 'releaseApiKeyBudget',
})
const revokeDetail = describeAdmin({
  ...described,
  id: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'Revokes an API key and those that it has created. Requests with them are rejected at once.',
})
const rotateDetail = describeAdmin({
  ...described,
  id: 'rotateApiKey',
  summary: 'Rotate an API key',
  description:
    'Creates an API key with the same properties and lifetime; both spend one budget. The old one works until its grace period ends.',
  body: keyRotation,
  examples: { grace: { summary: 'A grace period of an hour', value: { grace: '1h' } } },
  reply: CreatedApiKey,
})

/** The routes of API keys. */
export function keyAdminRoutes(guard: AdminGuard, service: KeyService) {
  return new Elysia({ name: 'admin-keys' })
    .use(guard)
    .get(path, ({ request }) => listPage(service, request), { detail: listDetail })
    .post(
      path,
      async ({ readChange, actor }) => {
        const { organization, name, ...properties } = await readChange(newKey)
        const createdAt = Date.now()
        const change = toChange(properties, createdAt)
        const input = { ...change, organization, name: name ?? 'unnamed', createdAt }
        return renderNewKey(service, await service.create(actor, input))
      },
      { detail: createDetail },
    )
    .use(itemRoutes(guard, service))
}

function itemRoutes(guard: AdminGuard, service: KeyService) {
  return new Elysia({ name: 'admin-key' })
    .use(guard)
    .get(itemPath, ({ params }) => renderOne(service, service.find(params.key)), { detail: findDetail })
    .patch(
      itemPath,
      async ({ readChange, params, actor }) => {
        const change = toChange(await readChange(keyUpdate), Date.now())
        return renderOne(service, service.change(actor, params.key, change))
      },
      { detail: updateDetail },
    )
    .post(
      `${itemPath}/release_held`,
      ({ params, actor }) => renderOne(service, service.releaseHeld(actor, params.key)),
      { detail: releaseDetail },
    )
    .post(
      `${itemPath}/revoke`,
      ({ params, actor }) => renderOne(service, service.revoke(actor, params.key)),
      { detail: revokeDetail },
    )
    .post(
      `${itemPath}/rotate`,
      async ({ readChange, params, actor }) => {
        const { grace } = await readChange(keyRotation)
        return renderNewKey(service, await service.rotate(actor, params.key, grace ?? undefined))
      },
      { detail: rotateDetail },
    )
}

function toChange(body: ReturnType<typeof keyUpdate.read>, now: number): KeyChange {
  const { name, project, permissions, tags, note, content_log } = body
  return {
    ...toAllowanceChange(body),
    name: name ?? undefined,
    project,
    expiresAt: expiryOf(body, now),
    permissions,
    tags,
    note,
    contentLog: content_log,
  }
}

async function listPage(service: KeyService, request: Request): Promise<Response> {
  const { usable, near_end, ...query } = listQuery.read(request)
  const usableAt = usable === 'true' ? Date.now() : undefined
  const page = await service.page({ ...query, usableAt, nearEndAt: nearEndTime(near_end) }, toPage(query))
  return pageReply(page, 'an API key of this list', service.render)
}
