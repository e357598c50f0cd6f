import { Type } from 'typebox'
import { checkLimits, limitFields, limitProperties, noOwnLimit } from '../../../http/limits.ts'
import { listSchema } from '../../../http/paging.ts'
import { storableText, stringEnum } from '../../../http/schema.ts'
import { createValidator } from '../../../lib/validation/validator.ts'

const name = storableText({
  minLength: 1,
  maxLength: 128,
  description: 'A name that is unique within the organization. At most 128 characters.',
})

const unsupported = (what: string) =>
  Type.Optional(Type.Null({ description: `${what} Only null is possible.` }))

/** What OpenAI's projects have and those of Weir do not. */
const openaiOnly = {
  external_key_id: unsupported('A key for encryption.'),
  geography: unsupported('The region of the data.'),
}

/** The body of a new project: OpenAI's fields, and Weir's limits. */
export const newOwnProject = createValidator(
  Type.Object(
    { name, ...openaiOnly, residency: unsupported('The region of the data.'), ...limitFields(noOwnLimit) },
    { title: 'NewOrganizationProject', additionalProperties: false },
  ),
  checkLimits,
)

/** The body of a change of a project; absent fields stay. */
export const ownProjectUpdate = createValidator(
  Type.Object(
    {
      name: Type.Optional(Type.Union([name, Type.Null()], { description: 'The new name.' })),
      ...openaiOnly,
      ...limitFields(noOwnLimit),
    },
    { title: 'OrganizationProjectUpdate', additionalProperties: false },
  ),
  checkLimits,
)

const seconds = (description: string) => Type.Integer({ description: `${description} In Unix seconds.` })

/** A project as OpenAI's API has it, with Weir's limits. */
export const OwnProject = Type.Object(
  {
    object: Type.Literal('organization.project', { description: 'The type of the object.' }),
    id: Type.String({ description: 'The ID.' }),
    name: Type.String({ description: 'The name.' }),
    created_at: seconds('When it was created.'),
    archived_at: Type.Union([Type.Integer(), Type.Null()], {
      description: 'When it was archived, in Unix seconds; null for an active one.',
    }),
    status: stringEnum(['active', 'archived'], { description: 'Whether its API keys are accepted.' }),
    ...limitProperties(noOwnLimit),
  },
  { title: 'OrganizationProject' },
)
export const OwnProjectList = listSchema(OwnProject, 'OrganizationProjectList')
