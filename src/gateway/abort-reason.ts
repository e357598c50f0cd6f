import type { AbortLike } from '../lib/abort.ts'
import { ApiError, clientGone } from '../lib/errors/errors.ts'

/** The error with which work was aborted: `client_gone`, unless the signal carries another `ApiError`. */
export function abortReason(signal: AbortLike): ApiError {
  return signal.reason instanceof ApiError ? signal.reason : clientGone()
}
