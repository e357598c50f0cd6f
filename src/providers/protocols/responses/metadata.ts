import type { ProviderError, Usage } from '../../../domain/generation/events.ts'
import { type Fields, isObject } from '../../../lib/json/json.ts'
import { parseError as parseChatError } from '../error.ts'
import { parseUsage as parseChatUsage } from '../openai-chat/parse-response.ts'

/** The usage of a response: the counts of chat completions under other names. */
export function parseUsage({ usage }: Fields): Usage | undefined {
  if (!isObject(usage)) return undefined
  return parseChatUsage({
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      prompt_tokens_details: usage.input_tokens_details,
      completion_tokens_details: usage.output_tokens_details,
    },
  })
}

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
