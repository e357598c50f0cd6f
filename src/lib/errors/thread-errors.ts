import { ApiError } from './errors.ts'

/** 400: the Messages API has no threads here; clients recognize the details and send the whole conversation instead. */
export function threadsUnsupported(): ApiError {
  const message = 'Threads are not supported by this gateway. Send the whole conversation without `thread`.'
  const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  return new ApiError(400, message, {
    type: 'invalid_request_error',
    code: 'unsupported_parameter',
    param: 'thread',
    details,
  })
}
