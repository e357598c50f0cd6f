import type { BucketStatus, RateLimitStatus } from '../gateway/rate-limits/organization-limiter.ts'
import type { Admission } from '../gateway/rate-limits/admission.ts'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import type { Caller } from './authentication.ts'

/** The step of the guard that gives a request its `admission`, or refuses it with 429 before its body is read. */
export function admission(limits: RateLimits) {
  return function admit({ caller, set }: Called): { readonly admission: Admission } {
    return { admission: limits.admit(caller.organization, (standing) => tell(set.headers, standing)) }
  }
}

/**
 * The step that ends a request that was let in: it puts the headers about the limits on the reply, whatever that is, and
 * releases what neither a call nor the reply holds.
 */
export function setRateLimitHeaders({ admission, set }: Answered): void {
  if (!admission) return
  admission.release()
  tell(set.headers, admission.status())
}

type Called = { readonly caller: Caller; readonly set: Reply }
type Answered = { readonly admission?: Admission; readonly set: Reply }

type Reply = { readonly headers: ReplyHeaders }
type ReplyHeaders = Record<string, string | number>

function tell(headers: ReplyHeaders, { requests, tokens }: RateLimitStatus): void {
  headers['x-ratelimit-limit-requests'] = String(requests.limit)
  headers['x-ratelimit-remaining-requests'] = String(requests.remaining)
  headers['x-ratelimit-reset-requests'] = resetOf(requests)
  headers['x-ratelimit-limit-tokens'] = String(tokens.limit)
  headers['x-ratelimit-remaining-tokens'] = String(tokens.remaining)
  headers['x-ratelimit-reset-tokens'] = resetOf(tokens)
}

/** The time until all is there again, as Go writes it: `0s`, `150ms`, `1.5s`, `6m0s`, `1h0m0.25s`. */
function resetOf({ untilFull }: BucketStatus): string {
  if (untilFull > 0 && untilFull < 1000) return `${untilFull}ms`
  const seconds = `${(untilFull % 60_000) / 1000}s`
  const minutes = Math.floor(untilFull / 60_000)
  if (minutes === 0) return seconds
  return minutes < 60 ? `${minutes}m${seconds}` : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`
}
