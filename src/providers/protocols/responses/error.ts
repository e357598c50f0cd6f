import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import { parseError as parseChatError } from '../openai-chat/error.ts'

/**
 * Parses an error: a body as of chat completions, an `error` event with nested or flat fields, or a failed response.
 * Inside a stream, only the code and the type imply an HTTP status.
 */
export function parseError(body: unknown): ProviderError {
  const error = parseChatError(body)
  return { ...error, status: error.status ?? statusFor(`${error.code} ${error.type}`) }
}

/** The first match applies. */
const statuses: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|too_many_requests|quota|billing/, 429],
  [/api_key|authentication/, 401],
  [/permission/, 403],
  [/model_not_found/, 404],
  [/server_error|timeout|overloaded|unavailable/, 500],
  [/context_length|invalid|image|content_policy|content_filter|unsupported/, 400],
]

function statusFor(identifiers: string): number | undefined {
  return statuses.find(([pattern]) => pattern.test(identifiers))?.[1]
}
