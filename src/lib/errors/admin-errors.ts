import { ApiError } from './errors.ts'

const invalidRequest = 'invalid_request_error'

/** 401: only the operator can use the endpoint; `configured` is whether the gateway has an admin key. */
export function adminKeyRequired(configured: boolean): ApiError {
  const message = configured
    ? 'This endpoint requires the admin key. Send the value of WEIR_ADMIN_KEY as the bearer token.'
    : 'The admin API is disabled. To enable it, set the environment variable WEIR_ADMIN_KEY and restart the gateway.'
  const headers = { 'www-authenticate': 'Bearer realm="weir"' }
  const log = { reason: configured ? 'wrong_admin_key' : 'no_admin_key' }
  return new ApiError(401, message, { type: invalidRequest, code: 'admin_key_required', headers, log })
}

/** 403: a page of another origin sent a request that would change something. */
export function originForbidden(): ApiError {
  const message =
    'Pages of this origin are not allowed to change the gateway. To allow it, add the origin to the setting cors.'
  return new ApiError(403, message, { type: invalidRequest })
}

/** 404: no organization, key or the like has this id. */
export function adminObjectNotFound(message: string): ApiError {
  return new ApiError(404, message, { type: invalidRequest })
}
