import type { AbortLike } from '../lib/abort.ts'
import { ApiError, clientGone } from '../lib/errors/errors.ts'

/** Why work was given up: its caller has left, unless whoever gave it up says more. */
export function abortReason(signal: AbortLike): ApiError {
  return signal.reason instanceof ApiError ? signal.reason : clientGone()
}
