import type { ProviderError } from '../../../domain/generation/provider-error.ts'
import { parseError as parseChatError } from '../openai-chat/error.ts'

/**
 * What an error says: a body as of chat completions, an `error` event with its fields nested or flat, or a failed
 * answer. Inside a stream only its words tell which status it would have had.
 */
export function parseError(body: unknown): ProviderError {
  const complaint = parseChatError(body)
  return { ...complaint, status: complaint.status ?? statusFor(`${complaint.code} ${complaint.type}`) }
}

/** The first that matches counts. */
const statuses: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|too_many_requests|quota|billing/, 429],
  [/api_key|authentication/, 401],
  [/permission/, 403],
  [/model_not_found/, 404],
  [/server_error|timeout|overloaded|unavailable/, 500],
  [/context_length|invalid|image|content_policy|content_filter|unsupported/, 400],
]

function statusFor(words: string): number | undefined {
  return statuses.find(([pattern]) => pattern.test(words))?.[1]
}
