import { Type } from 'typebox'
import { keyPermissions } from '../../domain/accounting/organization.ts'
import { expiryFields } from '../../http/expiry.ts'
import { changeBody, closedBody, limitFields, optionalBody } from '../../http/limits.ts'
import { noOwnLimit } from '../../http/objects/limits.ts'
import { nullish, stringEnum, storableText, text } from '../../http/schema.ts'
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
export const keyRotation = optionalBody('ApiKeyRotation', {
  grace: nullish(Type.String({ maxLength: 32 }), {
    description:
      'How long the old API key still works, such as `1h`; `0s` ends it at once. `24h` by default.',
  }),
})
