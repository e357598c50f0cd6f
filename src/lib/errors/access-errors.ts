import type { ErrorCode } from './error-codes.ts'
import { ApiError } from './errors.ts'

/** 403: the operator has disabled the key, or the one that created it; `key` is the public id of the key of the request. */
export function keyDisabled(id: string, key: string): ApiError {
  return forbidden(`The API key ${id} is disabled.`, 'key_disabled', key)
}

/** 403: the operator has disabled or deleted the project of the key. */
export function projectDisabled(name: string, change: 'is disabled' | 'was deleted', key: string): ApiError {
  return forbidden(`The project “${name}” of this API key ${change}.`, 'project_disabled', key)
}

/** 403: the operator has disabled the organization of the key. */
export function organizationDisabled(name: string, key: string): ApiError {
  return forbidden(`The organization “${name}” of this API key is disabled.`, 'organization_disabled', key)
}

function forbidden(message: string, code: ErrorCode, key: string): ApiError {
  return new ApiError(403, message, { type: 'permission_error', code, log: { key } })
}

/** 403: a list of models that applies to the key does not have the model. */
export function modelNotAllowed(slug: string): ApiError {
  const message = `This API key may not use the model ${slug}. GET /v1/models lists the models that it may use.`
  return new ApiError(403, message, {
    type: 'permission_error',
    code: 'model_not_allowed',
    param: 'model',
    log: { reason: 'model_not_allowed', model: slug },
  })
}

/** A budget that does not cover a request; the amounts are decimal numbers of USD. */
type ExceededBudget = {
  /** What its owner is, and the name of that. */
  readonly owner: string
  readonly name: string
  readonly limit: string
  readonly period: string
  /** The most that the request may cost, and what is left of the budget. */
  readonly cost: string
  readonly left: string
  /** The time of the reset, and the milliseconds until then; undefined for a budget without periods. */
  readonly reset: { readonly at: Date; readonly inMs: number } | undefined
}

/** Milliseconds: a client that waits for the next period waits no longer. */
const maxWaitMs = 3_600_000

/** 402: a budget does not cover the request. Clients must not repeat it at once; `retry-after` says when the budget is reset soon. */
export function budgetExceeded({ owner, name, limit, period, cost, left, reset }: ExceededBudget): ApiError {
  const whole = period === 'none' ? `${limit} USD` : `${limit} USD per ${period}`
  const reached = `Budget exceeded: this request may cost up to ${cost} USD, and ${left} USD of ${whole} are left of the budget of the ${owner} “${name}”.`
  const remedy = reset
    ? `It is reset at ${reset.at.toISOString().replace('.000Z', 'Z')}.`
    : 'Raise the budget, or send a smaller max_tokens.'
  const isSoon = reset !== undefined && reset.inMs < maxWaitMs
  const wait: Readonly<Record<string, string>> = isSoon
    ? { 'retry-after': String(Math.max(1, Math.ceil(reset.inMs / 1000))) }
    : {}
  return new ApiError(402, `${reached} ${remedy}`, {
    type: 'insufficient_quota',
    code: 'budget_exceeded',
    headers: { 'x-should-retry': 'false', ...wait },
  })
}
