import { Type } from 'typebox'
import { billingModes } from '../../domain/accounting/organization.ts'
import { listSchema } from '../../http/paging.ts'
import { nullish, stringEnum, storableText } from '../../http/schema.ts'
import { createValidator } from '../../lib/validation/validator.ts'

const idOrName = 'Its ID or its name.'
const limit = (what: string) =>
  nullish(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), {
    description: `${what} Null for the limit of the settings.`,
  })

const billingAndLimits = {
  billing: Type.Optional(
    stringEnum(billingModes, {
      description:
        'How requests are paid: `unmetered` records them, `prepaid` pays them from the balance, `none` rejects them.',
    }),
  ),
  requests_per_minute: limit('The requests per minute.'),
  tokens_per_minute: limit('The tokens per minute.'),
  concurrent_requests: limit('The requests at once.'),
}

/** The body of a new organization. */
export const newOrganization = createValidator(
  Type.Object(
    {
      name: Type.String({
        description: 'A unique name: 1 to 64 letters, digits, spaces, dots, dashes or underscores.',
      }),
      ...billingAndLimits,
    },
    { title: 'NewOrganization', additionalProperties: false },
  ),
)

/** The body of a change of an organization; absent fields stay. */
export const organizationUpdate = createValidator(
  Type.Object(billingAndLimits, {
    title: 'OrganizationUpdate',
    additionalProperties: false,
    minProperties: 1,
  }),
)

/** The body of a credit. */
export const newCredit = createValidator(
  Type.Object(
    {
      amount: Type.String({
        description:
          'The USD to add to the balance, such as `12.50`, with at most nine decimals. A negative amount subtracts.',
      }),
      note: nullish(storableText({ maxLength: 1000 }), {
        description: 'A note about the credit, such as an invoice number. At most 1000 characters.',
      }),
    },
    { title: 'NewCredit', additionalProperties: false },
  ),
)

/** The body of a new key. */
export const newKey = createValidator(
  Type.Object(
    {
      organization: Type.String({ description: `The organization of the API key. ${idOrName}` }),
      name: nullish(storableText({ maxLength: 256 }), {
        description: 'What the API key is used for. At most 256 characters; `unnamed` by default.',
      }),
      expires_in: nullish(Type.String({ maxLength: 32 }), {
        description: 'How long the API key works, such as `90d` or `24h`. By default, it does not expire.',
      }),
    },
    { title: 'NewApiKey', additionalProperties: false },
  ),
)

/** The body of a rotation. */
export const keyRotation = createValidator(
  Type.Object(
    {
      grace: nullish(Type.String({ maxLength: 32 }), {
        description:
          'How long the old API key still works, such as `1h`; `0s` ends it at once. `24h` by default.',
      }),
    },
    { title: 'ApiKeyRotation', additionalProperties: false },
  ),
)

const text = (description: string) => Type.String({ description })
const orNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const limitOrNull = (description: string) =>
  Type.Union([Type.Integer(), Type.Null()], {
    description: `${description} Null for the limit of the settings.`,
  })

/** An organization with its balance. */
export const OrganizationObject = Type.Object(
  {
    object: Type.Literal('organization', { description: 'The type of the object.' }),
    id: text('The ID.'),
    name: text('The name.'),
    billing: stringEnum(billingModes, { description: 'How requests are paid.' }),
    balance_usd: text('The balance in USD, as an exact decimal number.'),
    reserved_usd: text('The part of the balance that open requests have reserved.'),
    requests_per_minute: limitOrNull('The requests per minute.'),
    tokens_per_minute: limitOrNull('The tokens per minute.'),
    concurrent_requests: limitOrNull('The requests at once.'),
    created_at: text('When it was created, in ISO 8601.'),
  },
  { title: 'Organization' },
)
export const OrganizationList = listSchema(OrganizationObject, 'OrganizationList')

/** The confirmation that an organization is deleted. */
export const DeletedOrganization = Type.Object(
  { id: Type.String(), object: Type.Literal('organization.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedOrganization' },
)

/** A key without its secret. */
export const ApiKeyObject = Type.Object(
  {
    object: Type.Literal('api_key', { description: 'The type of the object.' }),
    id: text('The ID: the part of the API key between `sk-weir-` and the next dash.'),
    name: text('What it is used for.'),
    organization: orNull('The name of its organization; null if that is deleted.'),
    last4: text('The last four characters of the API key.'),
    created_at: text('When it was created, in ISO 8601.'),
    expires_at: orNull('When it expires; null for never.'),
    revoked_at: orNull('When it was revoked; null if it is not.'),
    replaced_by: orNull('The ID of the API key that a rotation created.'),
  },
  { title: 'ApiKey' },
)
export const ApiKeyList = listSchema(ApiKeyObject, 'ApiKeyList')

/** A new key with its secret. */
export const CreatedApiKey = Type.Object(
  {
    object: Type.Literal('api_key', { description: 'The type of the object.' }),
    id: text('The ID.'),
    key: text('The API key. It is shown only here.'),
    name: text('What it is used for.'),
    organization: orNull('The name of its organization.'),
    expires_at: orNull('When it expires; null for never.'),
  },
  { title: 'CreatedApiKey' },
)
