import type { Failure } from '../events/state.ts'
import type { ErrorEvent } from './event-schema.ts'
import type { ResponseError } from './reply-schema.ts'

/** Renders a failure as a stream event: nested, the form that clients throw on, and flat, as the schema has it. */
export function renderErrorEvent({ code, message, param }: Failure, sequence_number: number): ErrorEvent {
  const error = { type: errorTypeOf(code, param), code, message, param }
  return { type: 'error', sequence_number, code, message, param, error }
}

/** Renders a failure as the `error` of a response, with the code by which clients decide what to do. */
export function renderFailure({ code, message }: Failure): ResponseError {
  return { code: customaryCodes.get(code) ?? code, message }
}

/** The customary codes of the Responses API for codes of the gateway; other codes are rendered as they are. */
export const customaryCodes: ReadonlyMap<string, string> = new Map([
  ['upstream_rate_limited', 'rate_limit_exceeded'],
  ['upstream_unavailable', 'server_error'],
  ['upstream_timeout', 'server_error'],
  ['internal_error', 'server_error'],
  ['interrupted', 'server_error'],
  ['service_unavailable', 'server_error'],
  ['response_not_stored', 'server_error'],
  ['upstream_rejected', 'invalid_prompt'],
  ['content_filter', 'invalid_prompt'],
])

/** Codes of client errors that name no parameter. */
const clientErrorCodes: ReadonlySet<string> = new Set([
  'upstream_rejected',
  'context_length_exceeded',
  'content_filter',
  'model_not_found',
  'unsupported_parameter',
  'no_organization',
  'invalid_api_key',
])

const quotaErrorCodes: ReadonlySet<string> = new Set(['insufficient_balance', 'billing_not_configured'])

function errorTypeOf(code: string, param: string | null): string {
  if (quotaErrorCodes.has(code)) return 'insufficient_quota'
  return param !== null || clientErrorCodes.has(code) ? 'invalid_request_error' : 'server_error'
}
