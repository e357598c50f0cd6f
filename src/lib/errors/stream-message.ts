import type { ErrorCode } from './error-codes.ts'

/** The failures of a server after which a client may send the request again. */
const temporary: ReadonlySet<string> = new Set<ErrorCode>([
  'upstream_unavailable',
  'upstream_timeout',
  'internal_error',
  'interrupted',
  'service_unavailable',
])

/**
 * The message of an error in the middle of a stream. The SDKs of OpenAI and Anthropic keep nothing else of it that says
 * how it failed, and coding agents send the request again only if they find a word such as “server error” in it.
 */
export function streamMessage(message: string, code: string | null): string {
  return code !== null && temporary.has(code) ? message.replace(/\.(?= |$)|$/, ' (server error).') : message
}
