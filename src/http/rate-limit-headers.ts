import type { Admission } from '../gateway/rate-limits/admission.ts'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import type { BucketStatus } from '../lib/token-bucket.ts'
import type { RateLimitStatus } from '../storage/ports/limits.ts'
import type { Caller } from './authentication.ts'

/** The step of the guard that gives a request its `admission`, or rejects it with 429 before its body is read. */
export function admission(limits: RateLimits) {
  return function admit({ caller, request, set }: AuthenticatedContext): Admitted | Promise<Admitted> {
    const onRejected = (status: RateLimitStatus) => reportStatus(set, status)
    // Elysia waits for a function that returns the result of another one.
    return withAdmission(limits.admit(caller, onRejected, request.method === 'POST'))
  }
}

function withAdmission(admission: Admission | Promise<Admission>): Admitted | Promise<Admitted> {
  return admission instanceof Promise ? admission.then((admission) => ({ admission })) : { admission }
}

type Admitted = { readonly admission: Admission }

/**
 * The step that ends an admitted request: it sets the rate limit headers of the reply, whatever its status, and releases
 * what neither a call nor the reply holds.
 */
export function setRateLimitHeaders({ admission, set }: RepliedContext): void {
  if (!admission) return
  admission.release()
  reportStatus(set, admission.status())
}

type AuthenticatedContext = {
  readonly caller: Caller
  readonly request: Pick<Request, 'method'>
  readonly set: ReplySettings
}
type RepliedContext = {
  readonly admission?: Admission
  readonly set: ReplySettings
}

type ReplySettings = { readonly headers: ReplyHeaders }
type ReplyHeaders = Record<string, string | number>

function reportStatus({ headers }: ReplySettings, status: RateLimitStatus): void {
  setHeaders(headers, status)
  // Only a reply to a client of Anthropic's API has this one.
  if ('request-id' in headers) setAnthropicHeaders(headers, status)
}

function setHeaders(headers: ReplyHeaders, { requests, tokens }: RateLimitStatus): void {
  headers['x-ratelimit-limit-requests'] = String(requests.limit)
  headers['x-ratelimit-remaining-requests'] = String(requests.remaining)
  headers['x-ratelimit-reset-requests'] = resetOf(requests)
  headers['x-ratelimit-limit-tokens'] = String(tokens.limit)
  headers['x-ratelimit-remaining-tokens'] = String(tokens.remaining)
  headers['x-ratelimit-reset-tokens'] = resetOf(tokens)
}

/** Milliseconds: a year, which a date can express. */
const maxResetMs = 365 * 24 * 3_600_000

/** The same limits under the names of Anthropic's API, which says when a bucket is full instead of how long that takes. */
function setAnthropicHeaders(headers: ReplyHeaders, status: RateLimitStatus, now: number = Date.now()): void {
  for (const kind of ['requests', 'tokens'] as const) {
    const { limit, remaining, resetMs } = status[kind]
    headers[`anthropic-ratelimit-${kind}-limit`] = String(limit)
    headers[`anthropic-ratelimit-${kind}-remaining`] = String(remaining)
    headers[`anthropic-ratelimit-${kind}-reset`] = new Date(now + Math.min(resetMs, maxResetMs)).toISOString()
  }
}

/** The time until the bucket is full, in the duration format of Go: `0s`, `150ms`, `1.5s`, `6m0s`, `1h0m0.25s`. */
function resetOf({ resetMs: untilFull }: BucketStatus): string {
  if (untilFull > 0 && untilFull < 1000) return `${untilFull}ms`
  const seconds = `${(untilFull % 60_000) / 1000}s`
  const minutes = Math.floor(untilFull / 60_000)
  if (minutes === 0) return seconds
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}
