import { ApiError } from '../lib/errors.ts'

/** Whether the same route may answer when it is asked again. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  if (error.code === 'upstream_unavailable') return true
  // A provider that names a long pause will not answer before it.
  return error.code === 'upstream_rate_limited' && Number(error.headers['retry-after'] ?? 0) <= longestPause
}

/** Whether another route may answer: not where the fault is the caller's or the gateway's own. */
export function othersMayAnswer(error: unknown): boolean {
  return error instanceof ApiError && error.status === 502
}

/** Whether the failure says that the route itself is ill. */
export function blamesRoute(error: unknown): boolean {
  return error instanceof ApiError && ['upstream_unavailable', 'upstream_timeout'].includes(error.code ?? '')
}

/** Seconds. */
const longestPause = 2

/** Milliseconds before the next try: doubled each time, with half of it drawn so that callers spread out. */
export function pauseBefore(attempt: number, random: () => number = Math.random): number {
  const base = Math.min(200 * 2 ** attempt, longestPause * 1000)
  return base / 2 + (random() * base) / 2
}
