import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { bodyErrors, describe, guardErrors } from '../../../http/describe.ts'
import { expiryFields, expiryOf } from '../../../http/expiry.ts'
import { limitFields, limitProperties, noOwnLimit, parseBudget } from '../../../http/limits.ts'
import { invalidCursor, listSchema, pageParameters, renderSlice, toPage } from '../../../http/paging.ts'
import { defineQuery } from '../../../http/query.ts'
import { jsonText } from '../../../http/reply.ts'
import { nullish, storableText, Tags } from '../../../http/schema.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { createValidator } from '../../../lib/validation/validator.ts'
import type { KeyRecord, MintInput } from '../../../storage/ports/accounts.ts'
import type { MintedKeyService } from './minted-keys.ts'
import type { PermissionGuard } from './permission.ts'
import { nameField } from './project-key-schema.ts'

const path = '/v1/organization/keys'
const itemPath = `${path}/:key_id` as const
const listQuery = defineQuery(pageParameters('API key', 'asc'))
const permission = 'Requires an API key with the permission `mint`.'

const newMintedKey = createValidator(
  Type.Object(
    {
      name: nameField,
      budget_usd: Type.String({
        maxLength: 32,
        description:
          'The budget in USD, such as `0.50`, with at most nine decimals. It is taken from that of the API key of the request.',
      }),
      ...expiryFields,
      models: limitFields(noOwnLimit).models,
      tags: nullish(Tags, { description: 'Labels of the API key. At most 32.' }),
      note: nullish(storableText({ maxLength: 1000 }), {
        description: 'A note about the API key. At most 1000 characters.',
      }),
    },
    { title: 'NewMintedKey', additionalProperties: false },
  ),
)

const text = (description: string) => Type.String({ description })
const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

const properties = {
  object: Type.Literal('api_key', { description: 'The type of the object.' }),
  id: text('The ID.'),
  name: text('What it is used for.'),
  parent: orNull('The ID of the API key that created it.'),
  ...limitProperties(noOwnLimit),
  tags: Type.Array(Type.String(), { description: 'Its labels.' }),
  note: orNull('A note.'),
  content_log: Type.Boolean({ description: 'Whether the operator keeps the content of its requests.' }),
  created_at: text('When it was created, in ISO 8601.'),
  expires_at: orNull('When it expires.'),
  revoked_at: orNull('When it was revoked; null if it is not.'),
}
const MintedKey = Type.Object(properties, { title: 'MintedKey' })
const CreatedMintedKey = Type.Object(
  { ...properties, key: text('The API key. It is shown only here.') },
  { title: 'CreatedMintedKey' },
)

const described = {
  tag: 'Organization',
  path: { key_id: 'The ID of an API key that the API key of the request has created.' },
  reply: MintedKey,
} as const
const listDetail = describe({
  tag: 'Organization',
  id: 'listMintedKeys',
  summary: 'List the API keys that this one has created',
  description: `Lists the API keys that the API key of the request has created, with what is left of their budgets. ${permission}`,
  query: listQuery.parameters,
  reply: listSchema(MintedKey, 'MintedKeyList'),
  errors: [400, ...guardErrors],
})
const mintDetail = describe({
  tag: 'Organization',
  id: 'mintKey',
  summary: 'Create an API key out of the budget of this one',
  description:
    'Creates an API key within the limits of the API key of the request, whose budget is taken from its own. What is left returns once ' +
    `the new one has expired or is revoked. Only the response contains the API key itself. ${permission}`,
  body: newMintedKey,
  examples: {
    run: {
      summary: 'A key for one run of an agent',
      value: { name: 'run 7', budget_usd: '0.50', expires_in: '2h', tags: ['nightly'] },
    },
  },
  reply: CreatedMintedKey,
  errors: [402, ...bodyErrors],
})
const findDetail = describe({
  ...described,
  id: 'getMintedKey',
  summary: 'Get an API key that this one has created',
  description: `Returns an API key with what is left of its budget, without its secret. ${permission}`,
  errors: [404, ...guardErrors],
})
const revokeDetail = describe({
  ...described,
  id: 'revokeMintedKey',
  summary: 'Revoke an API key that this one has created',
  description: `Revokes an API key. What is left of its budget returns to that of the API key of the request. ${permission}`,
  errors: [404, ...guardErrors],
})

/** The keys that a key creates, such as one for each run of an agent. */
export function mintedKeyRoutes(guard: PermissionGuard, service: MintedKeyService) {
  return new Elysia({ name: 'minted-keys' })
    .use(guard)
    .get(
      path,
      async ({ caller, request }) => {
        const page = await service.page(caller, toPage(listQuery.read(request)))
        if (page === undefined) throw invalidCursor('an API key that this one has created')
        return jsonText(renderSlice({ ...page, items: await service.render(page.items) }))
      },
      { detail: listDetail },
    )
    .post(
      path,
      async ({ readBody, request, caller, admission }) => {
        const body = await readBody(request, newMintedKey, { admission, caller }, { isFree: true })
        const { record, key } = await service.mint(caller, toInput(body, Date.now()))
        const [rendered] = await service.render([record])
        return { object: 'api_key', id: record.id, key: key.reveal(), ...rendered }
      },
      { detail: mintDetail },
    )
    .get(itemPath, ({ caller, params }) => toObject(service, service.find(caller, params.key_id)), {
      detail: findDetail,
    })
    .delete(itemPath, ({ caller, params }) => toObject(service, service.revoke(caller, params.key_id)), {
      detail: revokeDetail,
    })
}

function toInput(body: ReturnType<typeof newMintedKey.read>, now: number): MintInput {
  const { name, budget_usd, models, tags, note } = body
  const expiresAt = expiryOf(body, now)
  if (expiresAt == null)
    throw badRequest("'expires_in' or 'expires_at' is required.", 'missing_required_parameter', 'expires_in')
  return {
    name,
    budget: parseBudget(budget_usd, 'budget_usd'),
    expiresAt,
    models: models ?? null,
    tags: tags ?? [],
    note: note ?? null,
  }
}

async function toObject(service: MintedKeyService, record: Promise<KeyRecord>) {
  const [rendered] = await service.render([await record])
  return rendered
}
