import type { FailureKind } from '../../config/model-details.ts'
import { ApiError, internalError } from '../../lib/errors/errors.ts'
import type { ModelRoute } from '../models/model.ts'
import { CallerTimeout, ConnectionFailure, CutResponse, isExcessive } from '../streams/upstream-error.ts'

/** The failed attempts of one call. */
export class Failures {
  readonly #retries: number
  /** In the order of the last failures. */
  readonly #attempts = new Map<ModelRoute, { readonly count: number; readonly error: unknown }>()

  /** `retries` is how often a route is tried again. */
  constructor(retries: number) {
    this.#retries = retries
  }

  record(route: ModelRoute, error: unknown): void {
    const count = this.#countOf(route) + 1
    this.#attempts.delete(route)
    this.#attempts.set(route, { count, error })
  }

  has(route: ModelRoute): boolean {
    return this.#attempts.has(route)
  }

  canRetry(route: ModelRoute): boolean {
    return this.#countOf(route) <= this.#retries && isRetryable(this.#attempts.get(route)?.error)
  }

  /** Whether none of the routes that have failed can succeed later. */
  areFinal(): boolean {
    return this.#attempts.values().every(({ error }) => isFinal(error))
  }

  /** The failure of the call whose routes have all failed. */
  combined(): unknown {
    return combinedFailure([...this.#attempts.values()].map(({ error }) => error))
  }

  /** Milliseconds before the first of the routes, which have failed, is tried again. */
  retryDelayMs(routes: readonly ModelRoute[]): number {
    const attempt = Math.min(...routes.map((route) => this.#countOf(route))) - 1
    return retryDelayMs(attempt, combinedFailure(routes.map((route) => this.#attempts.get(route)?.error)))
  }

  #countOf(route: ModelRoute): number {
    return this.#attempts.get(route)?.count ?? 0
  }
}

/** Whether the same route may succeed on a retry. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof ApiError) || !retryableCodes.includes(error.code ?? '')) return false
  // A provider that asks for a long pause will not respond before it.
  return retryAfterMs(error) <= maxPauseMs
}

const retryableCodes = ['upstream_unavailable', 'upstream_rate_limited']

/**
 * The kind of the failure; undefined for an error that another route would not change, because it is the caller's or the
 * gateway's own, or one that each route would charge for. What one provider's content filter has rejected is never sent to
 * another one.
 */
export function failureKind(error: unknown): FailureKind | undefined {
  if (!(error instanceof ApiError) || isExcessive(error)) return undefined
  if (error.code === 'context_length_exceeded') return 'context_length'
  if (error.code === 'provider_busy') return 'rate_limited'
  if (error.status !== 502) return undefined
  if (error.code === 'upstream_rate_limited') return 'rate_limited'
  return error.code === 'upstream_timeout' ? 'timeout' : 'unavailable'
}

/** Whether the next route is tried after such a failure of the route. */
export function mayLeave({ on = defaultKinds }: ModelRoute, kind: FailureKind): boolean {
  return on.includes(kind)
}

const defaultKinds: readonly FailureKind[] = ['unavailable', 'rate_limited', 'timeout']

/** Whether the failure shows that the route itself is unhealthy. */
export function isRouteFailure(error: unknown): boolean {
  if (!(error instanceof ApiError) || isCallerTimeout(error)) return false
  return error.code === 'upstream_unavailable' || error.code === 'upstream_timeout'
}

/** Whether the caller's own timeout has ended the attempt. */
export function isCallerTimeout(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof CallerTimeout
}

/** Whether no connection could be made, which nothing in the request can cause. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof ConnectionFailure
}

/** Whether the response was cut after it had begun. */
export function isCut(error: unknown): boolean {
  return error instanceof ApiError && error.cause instanceof CutResponse
}

/** Whether the caller has waited until a timeout. */
export function isTimeout(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'upstream_timeout'
}

/** Whether the request itself is wrong: then the route is healthy. */
export function isClientError(error: unknown): boolean {
  return error instanceof ApiError && error.status === 400
}

/** The longest pause that is worth the caller's wait. */
const maxPauseMs = 2000

/**
 * Milliseconds before the next attempt: exponential backoff with half of it random, and at least the
 * `retry-after` of the provider.
 */
export function retryDelayMs(attempt: number, error: unknown, random: () => number = Math.random): number {
  const half = Math.min(200 * 2 ** attempt, maxPauseMs) / 2
  const spread = random() * half
  return Math.max(half, retryAfterMs(error)) + spread
}

/** Milliseconds of the error's `retry-after` header; 0 without one. */
function retryAfterMs(error: unknown): number {
  return error instanceof ApiError ? Number(error.headers['retry-after'] ?? 0) * 1000 : 0
}

/**
 * The failure of a call whose routes have failed with these errors, in this order: the last temporary one, else the last,
 * with the sentences of all. Its `retry-after` is the earliest time at which one of the routes may respond, and absent if
 * that is unknown for one of them.
 */
export function combinedFailure(errors: readonly unknown[]): unknown {
  const temporary = errors.flatMap((error) => (error instanceof ApiError && !isFinal(error) ? [error] : []))
  const last = temporary.at(-1) ?? errors.at(-1)
  if (last === undefined) return internalError(new Error('The model has no routes.'))
  if (!(last instanceof ApiError)) return last
  const pauses = temporary.map(({ headers }) => Number(headers['retry-after'] ?? 0))
  const shortest = Math.min(...pauses, Number.MAX_SAFE_INTEGER)
  const message = combinedMessage(errors)
  const isShortest = temporary.length === 0 || shortest === Number(last.headers['retry-after'] ?? 0)
  if (isShortest && message === last.message) return last
  const { status, type, code, param, cause } = last
  const { 'retry-after': pause, ...others } = last.headers
  const after = isShortest ? pause : String(shortest || '')
  const headers = after ? { ...others, 'retry-after': after } : others
  const combined = new ApiError(status, message, { type, code, param, headers, cause })
  combined.providerMessage = last.providerMessage
  return combined
}

/** Names each provider that failed, once. */
function combinedMessage(errors: readonly unknown[]): string {
  // What one provider says of the request does not explain why another one failed, and may quote the prompt.
  const failures = errors.filter((error) => !isClientError(error))
  const named = failures.length > 0 ? failures : errors
  const messages = named.flatMap((error) => (error instanceof ApiError ? [error.message] : []))
  return [...new Set(messages)].join(' ')
}

/** Whether the same request cannot succeed later either. */
function isFinal(error: unknown): boolean {
  return error instanceof ApiError && error.headers['x-should-retry'] === 'false'
}
