import type { Allowance, AllowanceChange } from '../../../domain/accounting/allowance.ts'
import { type BudgetState, budgetLeft } from '../../../http/render-limits.ts'
import { badRequest } from '../../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../../lib/errors/http-errors.ts'
import type { Nanos } from '../../../lib/usd.ts'
import type { LimitValues } from '../../../storage/ports/limits.ts'
import type { modelPermissionsUpdate, rateLimitUpdate, spendLimitUpdate } from './project-limit-schema.ts'

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
  if (mode === 'allow_list') return { models: model_ids }
  if (model_ids.length === 0) return { models: null }
  throw badRequest(
    "Invalid 'mode': a list of denied models is not supported. List the allowed ones with allow_list.",
    'unsupported_value',
    'mode',
  )
}

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
