import { Type } from 'typebox'
import { type Allowance, type AllowanceChange, budgetPeriods } from '../../../domain/accounting/allowance.ts'
import { changeBody, checkModels, closedBody } from '../../../http/limits.ts'
import { listSchema } from '../../../http/paging.ts'
import { type BudgetState, budgetLeft } from '../../../http/render-limits.ts'
import { objectType, storableText, stringEnum, text } from '../../../http/schema.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../../lib/errors/http-errors.ts'
import type { Nanos } from '../../../lib/usd.ts'
import type { LimitValues } from '../../../storage/ports/limits.ts'

const limit = (description: string) =>
  Type.Optional(
    Type.Union([Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()], {
      description: `${description} Null for no limit of its own.`,
    }),
  )

/** The body of a change of rate limits; OpenAI's other limits are not known here. */
export const rateLimitUpdate = changeBody('ProjectRateLimitUpdate', {
  max_requests_per_1_minute: limit('The requests per minute.'),
  max_tokens_per_1_minute: limit('The tokens per minute.'),
})

/** The rate limits of a project. */
export const ProjectRateLimit = Type.Object(
  {
    object: objectType('project.rate_limit'),
    id: text('The ID: a project has one rate limit, for all models together.'),
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

/** The id of the only rate limit of a project, which is for all models together. */
export const rateLimitId = 'rl_all_models'

/** Renders the rate limits of a project; where it has none of its own, those that apply are the ones of its organization. */
export function renderRateLimit(own: Allowance, organization: Allowance, defaults: LimitValues) {
  return {
    object: 'project.rate_limit',
    id: rateLimitId,
    model: '*',
    max_requests_per_1_minute:
      own.requestsPerMinute ?? organization.requestsPerMinute ?? defaults.requestsPerMinute,
    max_tokens_per_1_minute: own.tokensPerMinute ?? organization.tokensPerMinute ?? defaults.tokensPerMinute,
  }
}

/** Converts the body of a change of rate limits. */
export function toRateLimits(body: ReturnType<typeof rateLimitUpdate.read>): AllowanceChange {
  return {
    requestsPerMinute: body.max_requests_per_1_minute,
    tokensPerMinute: body.max_tokens_per_1_minute,
  }
}

/** The body of a change of the allowed models. */
export const modelPermissionsUpdate = closedBody('ProjectModelPermissionsUpdate', {
  mode: stringEnum(['allow_list', 'deny_list'], {
    description: 'Weir has lists of allowed models; the only possible `deny_list` is an empty one.',
  }),
  model_ids: Type.Array(storableText({ minLength: 1, maxLength: 256 }), {
    maxItems: 1000,
    description: 'The allowed models: slugs, aliases, and patterns such as `anthropic/*`.',
  }),
})

/** The models that a project may use. */
export const ProjectModelPermissions = Type.Object(
  {
    object: objectType('project.model_permissions'),
    mode: stringEnum(['allow_list', 'deny_list'], {
      description: 'An empty `deny_list` where all models are allowed.',
    }),
    model_ids: Type.Array(Type.String(), { description: 'The allowed models and patterns.' }),
  },
  { title: 'ProjectModelPermissions' },
)

/** Renders the models that a project may use: without a list of its own, none is denied. */
export function renderModelPermissions({ models }: Allowance) {
  return {
    object: 'project.model_permissions',
    mode: models === null ? 'deny_list' : 'allow_list',
    model_ids: models ?? [],
  }
}

/** Converts the body of a change of the allowed models; throws 400 for denied ones. */
export function toModels({
  mode,
  model_ids,
}: ReturnType<typeof modelPermissionsUpdate.read>): AllowanceChange {
  checkModels(model_ids, 'model_ids')
  if (mode === 'allow_list') return { models: model_ids }
  if (model_ids.length === 0) return { models: null }
  throw badRequest(
    "Invalid 'mode': a list of denied models is not supported. List the allowed ones with allow_list.",
    'unsupported_value',
    'mode',
  )
}

/** In cents: 9 million USD. */
const maxThreshold = 900_719_925

/** The body of a spend limit. */
export const spendLimitUpdate = closedBody('SpendLimitUpdate', {
  currency: Type.Literal('USD', { description: 'The currency.' }),
  interval: stringEnum(budgetPeriods, { description: 'How often the limit is reset. `none` for never.' }),
  threshold_amount: Type.Integer({
    minimum: 0,
    maximum: maxThreshold,
    description: 'The limit in cents.',
  }),
})

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
  { object: objectType('project.spend_limit'), ...spendLimit },
  { title: 'ProjectSpendLimit' },
)

/** The budget of an organization. */
export const OrganizationSpendLimit = Type.Object(
  {
    object: objectType('organization.spend_limit'),
    ...spendLimit,
  },
  { title: 'OrganizationSpendLimit' },
)

/** Nano-dollars of a cent. */
const cent = 10_000_000n

/** Renders a budget as a spend limit; throws 404 if there is none. */
export function renderSpendLimit(
  owner: 'project' | 'organization',
  limits: Allowance,
  state: BudgetState | undefined,
) {
  const { budget, budgetPeriod } = limits
  if (budget === null) throw adminObjectNotFound(`The ${owner} has no spend limit.`)
  const isExhausted = state !== undefined && budgetLeft(budget, state.use) <= 0n
  return {
    object: `${owner}.spend_limit`,
    currency: 'USD',
    interval: budgetPeriod,
    threshold_amount: centsOf(budget),
    enforcement: { status: isExhausted ? 'enforcing' : 'inactive' },
  }
}

function centsOf(amount: Nanos): number {
  return Number(amount) / Number(cent)
}

/** Converts the body of a spend limit. */
export function toBudget(body: ReturnType<typeof spendLimitUpdate.read>): AllowanceChange {
  return { budget: BigInt(body.threshold_amount) * cent, budgetPeriod: body.interval }
}

/** The confirmation that a limit was removed; false if there was none. */
export const DeletedLimit = Type.Object(
  { object: Type.String(), deleted: Type.Boolean() },
  { title: 'DeletedLimit' },
)
