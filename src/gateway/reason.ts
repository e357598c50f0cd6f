import { ApiError, clientGone } from '../lib/errors.ts'
import type { Stopping } from '../lib/stop.ts'

/** Why work was given up: its caller has left, unless whoever gave it up says more. */
export function reasonOf(signal: Stopping): ApiError {
  return signal.reason instanceof ApiError ? signal.reason : clientGone()
}
