import { Type } from 'typebox'
import { keyPermissions } from '../../domain/accounting/organization.ts'
import { expiryFields } from '../../http/expiry.ts'
import { changeBody, closedBody, limitFields, limitProperties, noOwnLimit } from '../../http/limits.ts'
import { listSchema } from '../../http/paging.ts'
import { nullish, objectType, stringEnum, storableText, text, textOrNull } from '../../http/schema.ts'
import { Tags } from '../../http/metadata.ts'

const properties = {
  name: nullish(storableText({ maxLength: 256 }), {
    description: 'What the API key is used for. At most 256 characters; `unnamed` by default.',
  }),
  project: nullish(storableText({ maxLength: 64 }), {
    description: 'The ID of a project of its organization. Null for none.',
  }),
  ...expiryFields,
  ...limitFields(noOwnLimit),
  permissions: Type.Optional(
    Type.Array(stringEnum(keyPermissions), {
      maxItems: keyPermissions.length,
      description:
        'What the API key may do beside sending requests: `admin` manages its organization, `mint` creates API keys out of its own budget.',
    }),
  ),
  tags: Type.Optional(
    Type.Array(Tags.items, { maxItems: 32, description: 'Labels of the API key. At most 32.' }),
  ),
  note: nullish(storableText({ maxLength: 1000 }), {
    description: 'A note about the API key. At most 1000 characters.',
  }),
  content_log: Type.Optional(
    Type.Boolean({
      description:
        'Whether the content of its requests is kept: what they ask, and what is answered. The API keys that it has created follow. `false` by default.',
    }),
  ),
}

/** The body of a new key. */
export const newKey = closedBody('NewApiKey', {
  organization: text('The organization of the API key. Its ID or its name.'),
  ...properties,
})

/** The body of a change of a key; absent fields stay. */
export const keyUpdate = changeBody('ApiKeyUpdate', properties)

/** The body of a rotation. */
export const keyRotation = closedBody('ApiKeyRotation', {
  grace: nullish(Type.String({ maxLength: 32 }), {
    description:
      'How long the old API key still works, such as `1h`; `0s` ends it at once. `24h` by default.',
  }),
})

const keyProperties = {
  object: objectType('api_key'),
  id: text('The ID: the part of the API key between `sk-weir-` and the next dash.'),
  name: text('What it is used for.'),
  organization: textOrNull('The name of its organization; null if that is deleted.'),
  project: Type.Union([Type.Object({ id: Type.String(), name: Type.String() }), Type.Null()], {
    description: 'Its project; null for none.',
  }),
  parent: textOrNull('The ID of the API key that created it out of its own budget.'),
  ...limitProperties(noOwnLimit),
  permissions: Type.Array(stringEnum(keyPermissions), {
    description: 'What it may do beside sending requests.',
  }),
  tags: Type.Array(Type.String(), { description: 'Its labels.' }),
  note: textOrNull('A note.'),
  content_log: Type.Boolean({ description: 'Whether the content of its requests is kept.' }),
  last4: text('The last four characters of the API key.'),
  created_at: text('When it was created, in ISO 8601.'),
  expires_at: textOrNull('When it expires; null for never.'),
  revoked_at: textOrNull('When it was revoked; null if it is not.'),
  replaced_by: textOrNull('The ID of the API key that a rotation created.'),
}

/** A key without its secret. */
export const ApiKeyObject = Type.Object(keyProperties, { title: 'ApiKey' })
export const ApiKeyList = listSchema(ApiKeyObject, 'ApiKeyList')

/** A new key with its secret. */
export const CreatedApiKey = Type.Object(
  { ...keyProperties, key: text('The API key. It is shown only here.') },
  { title: 'CreatedApiKey' },
)
