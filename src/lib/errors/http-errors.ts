import { shortText } from '../text.ts'
import type { ErrorCode } from './error-codes.ts'
import { ApiError, type RejectionDetails } from './errors.ts'

/** Why a key was not accepted. */
type KeyRejection = 'malformed_key' | 'unknown_key' | 'wrong_secret' | 'revoked_key' | 'expired_key'

/** Why a path is not found. */
export type RouteRejection = 'unknown_path' | 'unsupported_endpoint'

/** 401: no bearer token was sent. */
export function missingKey(): ApiError {
  const message =
    'No API key provided. Send it in the Authorization header: Authorization: Bearer YOUR_API_KEY'
  return unauthorized(message, null, { reason: 'missing_key' })
}

/** 401: the caller reads the same message for every reason; only the log contains the reason. */
export function invalidKey(reason: KeyRejection, key?: string): ApiError {
  const message = 'Invalid API key. It may be mistyped, expired or revoked.'
  return unauthorized(message, 'invalid_api_key', { reason, key })
}

/** 401: an admin key was sent instead of an API key. */
export function keyOfOperator(): ApiError {
  const message =
    'This endpoint requires an API key, and the key that was sent is an admin key. To create an API key, run: weir keys create'
  return unauthorized(message, 'invalid_api_key', { reason: 'admin_key' })
}

/** 401: only an operator can use the endpoint; `sent` is what was sent instead of an admin key. */
export function adminKeyRequired(sent: 'no_key' | 'api_key' | 'wrong_admin_key'): ApiError {
  return unauthorized(`${adminKeyProblems[sent]} ${adminKeyRemedy}`, 'admin_key_required', { reason: sent })
}

const adminKeyProblems = {
  no_key: 'This endpoint requires an admin key as the bearer token.',
  api_key: 'This endpoint requires an admin key, and the key that was sent is an API key.',
  wrong_admin_key:
    'This endpoint requires an admin key, and what was sent is neither one nor the value of WEIR_ADMIN_KEY of the gateway.',
} as const

const adminKeyRemedy = 'To create an admin key, run on the machine of the gateway: weir admin-keys create'

/** 401: the caller reads the same message for every reason; only the log contains the reason. */
export function invalidAdminKey(reason: KeyRejection, key?: string): ApiError {
  const message = `Invalid admin key. It may be mistyped, expired or revoked. ${adminKeyRemedy}`
  return unauthorized(message, 'invalid_admin_key', { reason, key })
}

/** 403: the admin key lacks a permission; `all` are those of a key that replaces it, `key` is its public id. */
export function adminPermissionRequired(
  permission: string,
  all: readonly string[],
  key: string | undefined,
): ApiError {
  const message =
    `This endpoint requires an admin key with the permission “${permission}”, which this one does not have. ` +
    `${adminKeyRemedy} --permissions ${all.join()}`
  const options = { type: 'permission_error', code: 'admin_permission_required', log: { key } } as const
  return new ApiError(403, message, options)
}

function unauthorized(message: string, code: ErrorCode | null, log: RejectionDetails): ApiError {
  const headers = { 'www-authenticate': 'Bearer realm="weir"' }
  return new ApiError(401, message, { code, headers, log })
}

/** 403: `key` is the public id of the key. */
export function noOrganization(key?: string): ApiError {
  const message = 'The organization of this API key no longer exists.'
  return new ApiError(403, message, { code: 'no_organization', log: { key } })
}

/** 403: the key lacks a permission; `key` is its public id. */
export function permissionRequired(permission: string, key: string): ApiError {
  const message = `This endpoint requires an API key with the permission “${permission}”.`
  const options = { type: 'permission_error', code: 'permission_required', log: { key } } as const
  return new ApiError(403, message, options)
}

/** 402: the budget of a key cannot spare that of a new one. */
export function mintRejected(message: string): ApiError {
  const headers = { 'x-should-retry': 'false' }
  return new ApiError(402, message, { type: 'insufficient_quota', code: 'budget_exceeded', headers })
}

/** 403: only the operator can read metrics. */
export function metricsForbidden(): ApiError {
  const message =
    'Metrics are available only to local clients or with an admin key as the bearer token. To create one, run: weir admin-keys create'
  return new ApiError(403, message, { code: 'metrics_forbidden' })
}

/** 403: a page of another origin sent a request that would change something. */
export function originForbidden(): ApiError {
  const message =
    'Pages of this origin are not allowed to change the gateway. To allow it, add the origin to the setting cors.'
  return new ApiError(403, message)
}

/** 404: no organization, key or the like has this id. */
export function adminObjectNotFound(message: string): ApiError {
  return new ApiError(404, message)
}

/** 404 for a path; `sentence` is a hint at the likely path, or empty. */
export function routeNotFound(
  method: string,
  path: string,
  { sentence, reason }: { readonly sentence: string; readonly reason: RouteRejection },
): ApiError {
  const message = `Unknown endpoint: ${method} ${shortText(path, maxShownPath)}.${sentence && ` ${sentence}`}`
  return new ApiError(404, message, { log: { reason } })
}

const maxShownPath = 200

/** 501: HTTP has no such method. */
export function methodNotImplemented(method: string): ApiError {
  const message = `Unknown HTTP method: ${method}.`
  return new ApiError(501, message, { code: 'method_not_implemented' })
}

/** 405: the path exists, but not with this method. */
export function methodNotAllowed(method: string, path: string, allowed: readonly string[]): ApiError {
  const headers = { allow: allowed.join(', ') }
  const message = `${shortText(path, maxShownPath)} does not support ${method}. Supported methods: ${allowed.join(', ')}.`
  return new ApiError(405, message, { code: 'method_not_supported', headers })
}

/**
 * 426: the client wants to speak another protocol on this connection. Codex then speaks HTTP at once; after a 404 or 405 it
 * connects again for up to 20 seconds (openai/codex#19821).
 */
export function upgradeNotSupported(): ApiError {
  const message = 'WebSocket is not supported. Send the request by HTTP.'
  return new ApiError(426, message, { code: 'upgrade_not_supported', headers: { connection: 'close' } })
}

/** 413: the body is larger than `limit` bytes. */
export function bodyTooLarge(limit: number): ApiError {
  const message = `The request body is larger than the maximum of ${limit} bytes (the max_body setting of the gateway).`
  return new ApiError(413, message, { code: 'request_too_large' })
}

/** 408: the body did not arrive before the deadline. */
export function bodyTooSlow(): ApiError {
  const message = 'The request body was not received in time.'
  const headers = { connection: 'close' }
  return new ApiError(408, message, { code: 'request_timeout', headers })
}

/** 415: the body has another content type than the route expects. */
export function unsupportedMediaType(message: string): ApiError {
  return new ApiError(415, message, { code: 'unsupported_media_type' })
}

/** 429: after `waitMs` the same request is accepted, unless other requests arrive before it. */
export function rateLimited(type: 'requests' | 'tokens', message: string, waitMs: number): ApiError {
  const headers = {
    'retry-after': String(Math.max(1, Math.ceil(waitMs / 1000))),
    'retry-after-ms': String(waitMs),
  }
  const log = { reason: `${type}_limit` }
  return new ApiError(429, message, { type, code: 'rate_limit_exceeded', headers, log })
}
