import type { ErrorEvent } from './event-schema.ts'
import type { ResponseError } from './reply-schema.ts'
import type { Failure } from '../events/state.ts'

/** The event that tells a failure: in the nested form that clients throw on, and in the flat one of the schema. */
export function renderErrorEvent({ code, message, param }: Failure): Omit<ErrorEvent, 'sequence_number'> {
  return { type: 'error', code, message, param, error: { type: typeOf(code, param), code, message, param } }
}

/** What the response itself says of its failure, in the words by which its readers decide what to do. */
export function renderFailure({ code, message }: Failure): ResponseError {
  return { code: customaryCodes.get(code) ?? code, message }
}

/** Codes of the gateway that have a customary name in a response; a code without one stands for itself. */
const customaryCodes: ReadonlyMap<string, string> = new Map([
  ['upstream_rate_limited', 'rate_limit_exceeded'],
  ['upstream_unavailable', 'server_error'],
  ['upstream_timeout', 'server_error'],
  ['internal_error', 'server_error'],
  ['interrupted', 'server_error'],
  ['service_unavailable', 'server_error'],
  ['upstream_rejected', 'invalid_prompt'],
  ['content_filter', 'invalid_prompt'],
])

/** Failures that are the caller's to mend, beside those of a field. */
const callerFaults: ReadonlySet<string> = new Set([
  'upstream_rejected',
  'context_length_exceeded',
  'content_filter',
  'model_not_found',
  'unsupported_parameter',
  'no_organization',
  'invalid_api_key',
])

const quotaFaults: ReadonlySet<string> = new Set(['insufficient_balance', 'billing_not_configured'])

function typeOf(code: string, param: string | null): string {
  if (quotaFaults.has(code)) return 'insufficient_quota'
  return param !== null || callerFaults.has(code) ? 'invalid_request_error' : 'server_error'
}
