import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import { parseError as parseCommonError } from '../openai-chat/error.ts'

/** Parses an error body of Anthropic, or of a cloud in front of it. */
export function parseError(body: unknown): ProviderError {
  const error = parseCommonError(body)
  return { ...error, status: error.status ?? statuses.get(error.type ?? '') }
}

/** Inside a stream, only the type implies an HTTP status. */
const statuses = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])
