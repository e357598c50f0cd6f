import { Type } from 'typebox'
import { checkLimits, limitFields, limitProperties, noOwnLimit } from '../../http/limits.ts'
import { listSchema } from '../../http/paging.ts'
import { storableText } from '../../http/schema.ts'
import { createValidator } from '../../lib/validation/validator.ts'

const name = storableText({
  minLength: 1,
  maxLength: 128,
  description: 'A name that is unique within the organization. At most 128 characters.',
})

/** The body of a new project. */
export const newProject = createValidator(
  Type.Object(
    {
      organization: Type.String({ description: 'The organization of the project. Its ID or its name.' }),
      name,
      ...limitFields(noOwnLimit),
    },
    { title: 'NewProject', additionalProperties: false },
  ),
  checkLimits,
)

/** The body of a change of a project; absent fields stay. */
export const projectUpdate = createValidator(
  Type.Object(
    { name: Type.Optional(name), ...limitFields(noOwnLimit) },
    { title: 'ProjectUpdate', additionalProperties: false, minProperties: 1 },
  ),
  checkLimits,
)

const text = (description: string) => Type.String({ description })

/** A project with its limits. */
export const ProjectObject = Type.Object(
  {
    object: Type.Literal('project', { description: 'The type of the object.' }),
    id: text('The ID.'),
    name: text('The name.'),
    organization: text('The name of its organization.'),
    ...limitProperties(noOwnLimit),
    created_at: text('When it was created, in ISO 8601.'),
    deleted_at: Type.Union([Type.String(), Type.Null()], {
      description: 'When it was deleted; null while it exists.',
    }),
  },
  { title: 'Project' },
)
export const ProjectList = listSchema(ProjectObject, 'ProjectList')

/** The confirmation that a project is deleted. */
export const DeletedProject = Type.Object(
  { id: Type.String(), object: Type.Literal('project.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedProject' },
)
