import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import { parseError as parseCommonError } from '../openai-chat/error.ts'

/** What an error body says, in Anthropic's shape or in that of a cloud before it. */
export function parseError(body: unknown): ProviderError {
  const complaint = parseCommonError(body)
  return { ...complaint, status: complaint.status ?? statuses.get(complaint.type ?? '') }
}

/** Inside a stream the type is all that tells the status. */
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
