import { Type } from 'typebox'
import { changeBody, closedBody, limitFields } from '../../../http/limits.ts'
import { limitProperties, noOwnLimit } from '../../../http/objects/limits.ts'
import { listSchema } from '../../../http/paging.ts'
import { nullish, objectType, storableText, stringEnum, text } from '../../../http/schema.ts'

/** A hundred years. */
const maxSeconds = 3_153_600_000

/** The lifetime of a key in the bodies of OpenAI's API. */
export const lifetimeField = nullish(Type.Integer({ minimum: 1, maximum: maxSeconds }), {
  description: 'The seconds until the API key expires.',
})

/** The name of a key in the bodies of OpenAI's API. */
export const nameField = storableText({
  minLength: 1,
  maxLength: 256,
  description: 'What it is used for. At most 256 characters.',
})

/** The body of a change of a key; absent fields stay. */
export const projectKeyUpdate = changeBody('ProjectApiKeyUpdate', {
  name: Type.Optional(nameField),
  expires_in_seconds: lifetimeField,
  ...limitFields(noOwnLimit),
})

/** The body of a new service account, which is a key here. */
export const newServiceAccount = closedBody('NewServiceAccount', {
  name: nameField,
  create_service_account_only: Type.Optional(
    Type.Union([Type.Literal(false), Type.Null()], {
      description: 'A service account always has an API key.',
    }),
  ),
  expires_in_seconds: lifetimeField,
  ...limitFields(noOwnLimit),
})

const seconds = (description: string) => Type.Integer({ description: `${description} In Unix seconds.` })
const secondsOrNull = (description: string) =>
  Type.Union([Type.Integer(), Type.Null()], { description: `${description} In Unix seconds.` })

/** The properties that the objects of keys of OpenAI's API share. */
export const openaiKeyProperties = {
  id: text('The ID.'),
  name: text('What it is used for.'),
  created_at: seconds('When it was created.'),
  expires_at: secondsOrNull('When it expires; null for never.'),
  last_used_at: Type.Null({ description: 'Always null.' }),
  redacted_value: text('The API key without its secret.'),
  content_log: Type.Boolean({ description: 'Whether the operator keeps the content of its requests.' }),
}

/** The key itself as its owner: Weir has no users. */
export function ownerSchema(description: string) {
  return Type.Object({}, { description, additionalProperties: true })
}

/** A key of a project as OpenAI's API has it, with Weir's limits. */
export const ProjectApiKey = Type.Object(
  {
    object: objectType('organization.project.api_key'),
    ...openaiKeyProperties,
    owner: ownerSchema('A service account with the ID and the name of the API key.'),
    owner_project_access: stringEnum(['active', 'inactive'], {
      description: 'Whether it is accepted: `inactive` if it has expired or is disabled.',
    }),
    ...limitProperties(noOwnLimit),
  },
  { title: 'ProjectApiKey' },
)
export const ProjectApiKeyList = listSchema(ProjectApiKey, 'ProjectApiKeyList')

const serviceAccount = {
  object: objectType('organization.project.service_account'),
  id: text('The ID, which is that of its API key.'),
  name: text('The name.'),
  role: Type.Literal('member', { description: 'Always `member`.' }),
  created_at: seconds('When it was created.'),
}

/** A service account of a project. */
export const ServiceAccount = Type.Object(serviceAccount, { title: 'ServiceAccount' })
export const ServiceAccountList = listSchema(ServiceAccount, 'ServiceAccountList')

/** A new service account with its key. */
export const CreatedServiceAccount = Type.Object(
  {
    ...serviceAccount,
    api_key: Type.Object(
      {
        object: Type.Literal('organization.project.service_account.api_key'),
        id: Type.String(),
        name: Type.String(),
        value: Type.String(),
        created_at: Type.Integer(),
        expires_at: Type.Union([Type.Integer(), Type.Null()]),
      },
      { description: 'The API key. Its value is shown only here.' },
    ),
  },
  { title: 'CreatedServiceAccount' },
)

/** The confirmation that a key was revoked. */
export const DeletedKey = Type.Object(
  { id: Type.String(), object: Type.String(), deleted: Type.Literal(true) },
  { title: 'DeletedKey' },
)
