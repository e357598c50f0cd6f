import { Type } from 'typebox'
import { billingModes, keyPermissions } from '../../domain/accounting/organization.ts'
import { objectType, stringEnum, text, textOrNull } from '../schema.ts'
import { limitProperties, noOrganizationLimit, noOwnLimit } from './limits.ts'

/** An organization with its balance. */
export const OrganizationObject = Type.Object(
  {
    object: objectType('organization'),
    id: text('The ID.'),
    name: text('The name.'),
    billing: stringEnum(billingModes, { description: 'How requests are paid.' }),
    balance_usd: text('The balance in USD, as an exact decimal number.'),
    reserved_usd: text('The part of the balance that open requests have reserved.'),
    ...limitProperties(noOrganizationLimit),
    created_at: text('When it was created, in ISO 8601.'),
  },
  { title: 'Organization' },
)

/** A project of an organization. */
export const ProjectObject = Type.Object(
  {
    object: objectType('project'),
    id: text('The ID.'),
    name: text('The name.'),
    organization: text('The name of its organization.'),
    ...limitProperties(noOwnLimit),
    created_at: text('When it was created, in ISO 8601.'),
    deleted_at: textOrNull('When it was deleted; null while it exists.'),
  },
  { title: 'Project' },
)

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

/** A new key with its secret. */
export const CreatedApiKey = Type.Object(
  { ...keyProperties, key: text('The API key. It is shown only here.') },
  { title: 'CreatedApiKey' },
)
