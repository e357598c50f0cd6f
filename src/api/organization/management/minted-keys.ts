import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { isWithinModels } from '../../../domain/accounting/model-pattern.ts'
import type { GuardedDescription } from '../../../http/describe.ts'
import { expiryFields, expiryOf } from '../../../http/expiry.ts'
import { checkModels, limitFields, parseBudget } from '../../../http/limits.ts'
import { limitProperties, noOwnLimit } from '../../../http/objects/limits.ts'
import { listSchema, pageParameters, pageReply, toPage } from '../../../http/paging.ts'
import { defineQuery } from '../../../http/query.ts'
import { createAccountRenderer, renderKey, renderOne } from '../../../http/render-accounts.ts'
import { nullish, objectType, storableText, text, textOrNull } from '../../../http/schema.ts'
import { Tags } from '../../../http/metadata.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../../lib/errors/http-errors.ts'
import { ownTurn } from '../../../lib/time.ts'
import { formatUsd } from '../../../lib/usd.ts'
import { createValidator } from '../../../lib/validation/validator.ts'
import type { KeyRecord, MintInput } from '../../../storage/ports/accounts.ts'
import type { PageQuery } from '../../../storage/ports/listed-pages.ts'
import type { ManagementDependencies } from './own-projects.ts'
import { createOwnChanges, describeManagement, type Manager, type PermissionGuard } from './permission.ts'
import { nameField } from './project-key-schema.ts'

const path = '/v1/organization/keys'
const itemPath = `${path}/:key_id` as const
const listQuery = defineQuery(pageParameters('API key', 'asc'))

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
  ({ models }) => checkModels(models, 'models'),
)

const properties = {
  object: objectType('api_key'),
  id: text('The ID.'),
  name: text('What it is used for.'),
  parent: textOrNull('The ID of the API key that created it.'),
  ...limitProperties(noOwnLimit),
  tags: Type.Array(Type.String(), { description: 'Its labels.' }),
  note: textOrNull('A note.'),
  content_log: Type.Boolean({ description: 'Whether the operator keeps the content of its requests.' }),
  created_at: text('When it was created, in ISO 8601.'),
  expires_at: textOrNull('When it expires.'),
  revoked_at: textOrNull('When it was revoked; null if it is not.'),
}
const MintedKey = Type.Object(properties, { title: 'MintedKey' })
const CreatedMintedKey = Type.Object(
  { ...properties, key: text('The API key. It is shown only here.') },
  { title: 'CreatedMintedKey' },
)

const describeMinting = (description: GuardedDescription) => describeManagement(description, 'mint')
const described = {
  path: { key_id: 'The ID of an API key that the API key of the request has created.' },
  reply: MintedKey,
} as const
const listDetail = describeMinting({
  id: 'listMintedKeys',
  summary: 'List the API keys that this one has created',
  description:
    'Lists the API keys that the API key of the request has created, with what is left of their budgets.',
  query: listQuery.parameters,
  reply: listSchema(MintedKey, 'MintedKeyList'),
})
const mintDetail = describeMinting({
  id: 'mintKey',
  summary: 'Create an API key out of the budget of this one',
  description:
    'Creates an API key within the limits of the API key of the request, whose budget is taken from its own. What is left returns once ' +
    'the new one has expired or is revoked. Only the response contains the API key itself.',
  body: newMintedKey,
  examples: {
    run: {
      summary: 'A key for one run of an agent',
      value: { name: 'run 7', budget_usd: '0.50', expires_in: '2h', tags: ['nightly'] },
    },
  },
  reply: CreatedMintedKey,
  errors: [402],
})
const findDetail = describeMinting({
  ...described,
  id: 'getMintedKey',
  summary: 'Get an API key that this one has created',
  description: 'Returns an API key with what is left of its budget, without its secret.',
})
const revokeDetail = describeMinting({
  ...described,
  id: 'revokeMintedKey',
  summary: 'Revoke an API key that this one has created',
  description:
    'Revokes an API key. What is left of its budget returns to that of the API key of the request.',
})

/** The keys that a key creates, such as one for each run of an agent. */
export function mintedKeyRoutes(guard: PermissionGuard, parts: ManagementDependencies) {
  const service = createMintedKeyService(parts)
  return new Elysia({ name: 'minted-keys' })
    .use(guard)
    .get(
      path,
      async ({ caller, request }) => {
        const page = await service.page(caller, toPage(listQuery.read(request)))
        return pageReply(page, 'an API key that this one has created', service.render)
      },
      { detail: listDetail },
    )
    .post(
      path,
      async ({ readChange, caller }) => {
        const body = await readChange(newMintedKey)
        const { record, key } = await service.mint(caller, toInput(body, Date.now()))
        const [rendered] = await service.render([record])
        return { object: 'api_key', id: record.id, key: key.reveal(), ...rendered }
      },
      { detail: mintDetail },
    )
    .get(itemPath, ({ caller, params }) => renderOne(service, service.find(caller, params.key_id)), {
      detail: findDetail,
    })
    .delete(itemPath, ({ caller, params }) => renderOne(service, service.revoke(caller, params.key_id)), {
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
    createdAt: now,
    models: models ?? null,
    tags: tags ?? [],
    note: note ?? null,
  }
}

/** The keys that a key creates out of its own budget. One that another key created does not exist: 404. */
function createMintedKeyService(parts: ManagementDependencies) {
  const { keys, budgets } = parts.managed
  const change = createOwnChanges(parts)

  async function find({ organization, keyId }: Manager, id: string): Promise<KeyRecord> {
    const key = await keys.find(id)
    if (key?.organizationId === organization.id && key.parent === keyId) return key
    throw adminObjectNotFound(`This API key has created no API key with the ID '${id.slice(0, 100)}'.`)
  }

  return {
    find,
    page: ({ organization, keyId }: Manager, query: PageQuery) =>
      keys.page({ ...query, organizationId: organization.id, parentId: keyId }),
    /** Throws 400 for models that the key itself may not use, and 402 if its budget has too little left. */
    mint: (manager: Manager, input: MintInput) =>
      change(
        manager,
        'key.mint',
        async ({ keys }) => {
          await assertModels(await keys.find(manager.keyId), input)
          return keys.mint(manager.keyId, input)
        },
        ({ record }) => ({ key: record.id, name: record.name, budget: formatUsd(input.budget) }),
      ),
    /** Revokes a key, and returns what is left of its budget to the key that created it. */
    revoke: (manager: Manager, id: string) =>
      change(
        manager,
        'key.revoke',
        async ({ keys }) => {
          await find(manager, id)
          const revoked = await keys.revoke(id)
          await keys.returnAllocations()
          return revoked
        },
        ({ name }) => ({ key: id, name }),
      ),
    render: createAccountRenderer(budgets, 'api_key', renderKey),
  }
}

/** Entries that are compared in one turn of the event loop: a few milliseconds, whatever the patterns are. */
const turnEntries = 10

async function assertModels(parent: KeyRecord | undefined, { models }: MintInput): Promise<void> {
  const allowed = parent?.limits.models ?? null
  if (allowed === null) return
  for (const [index, entry] of (models ?? []).entries()) {
    if (index % turnEntries === 0) await ownTurn()
    if (isWithinModels(entry, allowed)) continue
    const message = `Invalid 'models[${index}]': the model is not within those of this API key.`
    throw badRequest(message, 'invalid_value', `models[${index}]`)
  }
}
