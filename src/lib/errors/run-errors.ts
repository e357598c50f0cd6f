import { ApiError } from './errors.ts'

/** 401: the key of a queued run is no longer valid; the run ends with this error. */
export function runKeyInvalid(id: string, change: 'was revoked' | 'has expired'): ApiError {
  const message = `The API key ${id} ${change} while this background run was queued.`
  return new ApiError(401, message, { type: 'invalid_request_error', code: 'invalid_api_key' })
}

/** 499: the organization cancelled the run; the run ends with this error. */
export function runCancelled(): ApiError {
  return new ApiError(499, 'The background run was cancelled.', {
    type: 'invalid_request_error',
    code: 'cancelled',
  })
}

/** 500: the stored state of a background run is damaged. */
export function unreadableRun(): ApiError {
  const message = 'The stored state of this background run cannot be read. Send the request again.'
  return new ApiError(500, message, { type: 'server_error', code: 'internal_error' })
}
