import { Type } from 'typebox'
import { budgetPeriods } from '../../../domain/accounting/allowance.ts'
import { listSchema } from '../../../http/paging.ts'
import { storableText, stringEnum } from '../../../http/schema.ts'
import { createValidator } from '../../../lib/validation/validator.ts'

const limit = (description: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()], {
      description: `${description} Null for no limit of its own.`,
    }),
  )

/** The body of a change of rate limits; OpenAI's other limits are not known here. */
export const rateLimitUpdate = createValidator(
  Type.Object(
    {
      max_requests_per_1_minute: limit('The requests per minute.'),
      max_tokens_per_1_minute: limit('The tokens per minute.'),
    },
    { title: 'ProjectRateLimitUpdate', additionalProperties: false, minProperties: 1 },
  ),
)

/** The rate limits of a project. */
export const ProjectRateLimit = Type.Object(
  {
    object: Type.Literal('project.rate_limit', { description: 'The type of the object.' }),
    id: Type.String({ description: 'The ID: a project has one rate limit, for all models together.' }),
    model: Type.Literal('*', { description: 'All models together.' }),
    max_requests_per_1_minute: Type.Integer({
      description: 'The requests per minute: of the project, else those of the organization.',
    }),
    max_tokens_per_1_minute: Type.Integer({
      description: 'The tokens per minute: of the project, else those of the organization.',
    }),
  },
  { title: 'ProjectRateLimit' },
)
export const ProjectRateLimitList = listSchema(ProjectRateLimit, 'ProjectRateLimitList')

/** The body of a change of the allowed models. */
export const modelPermissionsUpdate = createValidator(
  Type.Object(
    {
      mode: stringEnum(['allow_list', 'deny_list'], {
        description: 'Weir has lists of allowed models; the only possible `deny_list` is an empty one.',
      }),
      model_ids: Type.Array(storableText({ minLength: 1, maxLength: 256 }), {
        maxItems: 1000,
        description: 'The allowed models: slugs, aliases, and patterns such as `anthropic/*`.',
      }),
    },
    { title: 'ProjectModelPermissionsUpdate', additionalProperties: false },
  ),
)

/** The models that a project may use. */
export const ProjectModelPermissions = Type.Object(
  {
    object: Type.Literal('project.model_permissions', { description: 'The type of the object.' }),
    mode: stringEnum(['allow_list', 'deny_list'], {
      description: 'An empty `deny_list` where all models are allowed.',
    }),
    model_ids: Type.Array(Type.String(), { description: 'The allowed models and patterns.' }),
  },
  { title: 'ProjectModelPermissions' },
)

/** In cents: 9 million USD. */
const maxThreshold = 900_719_925

/** The body of a spend limit. */
export const spendLimitUpdate = createValidator(
  Type.Object(
    {
      currency: Type.Literal('USD', { description: 'The currency.' }),
      interval: stringEnum(budgetPeriods, { description: 'How often the limit is reset. `none` for never.' }),
      threshold_amount: Type.Integer({
        minimum: 0,
        maximum: maxThreshold,
        description: 'The limit in cents.',
      }),
    },
    { title: 'SpendLimitUpdate', additionalProperties: false },
  ),
)

const spendLimit = {
  currency: Type.Literal('USD', { description: 'The currency.' }),
  interval: stringEnum(budgetPeriods, { description: 'How often the limit is reset.' }),
  threshold_amount: Type.Number({ description: 'The limit in cents, of which it may have a fraction.' }),
  enforcement: Type.Object(
    {
      status: stringEnum(['inactive', 'enforcing'], {
        description: '`enforcing` while nothing is left, so that requests are rejected.',
      }),
    },
    { description: 'Whether the limit rejects requests now.' },
  ),
}

/** The budget of a project. */
export const ProjectSpendLimit = Type.Object(
  { object: Type.Literal('project.spend_limit', { description: 'The type of the object.' }), ...spendLimit },
  { title: 'ProjectSpendLimit' },
)

/** The budget of an organization. */
export const OrganizationSpendLimit = Type.Object(
  {
    object: Type.Literal('organization.spend_limit', { description: 'The type of the object.' }),
    ...spendLimit,
  },
  { title: 'OrganizationSpendLimit' },
)

/** The confirmation that a limit was removed; false if there was none. */
export const DeletedLimit = Type.Object(
  { object: Type.String(), deleted: Type.Boolean() },
  { title: 'DeletedLimit' },
)
