import { Type } from 'typebox'
import type { ApiError } from '../lib/errors/errors.ts'
import { requestPath } from './routing.ts'

/** The body of an error in Anthropic's API. */
export type AnthropicErrorBody = {
  readonly type: 'error'
  readonly error: {
    readonly type: string
    readonly message: string
    readonly details?: Readonly<Record<string, unknown>>
  }
  readonly request_id: string
}

/** The schema of that body. */
export const AnthropicErrorBody = Type.Object(
  {
    type: Type.Literal('error'),
    error: Type.Object({
      type: Type.String(),
      message: Type.String(),
      details: Type.Optional(Type.Object({})),
    }),
    request_id: Type.String(),
  },
  { title: 'AnthropicError' },
)

/** Renders an error for a client of Anthropic's API. */
export function toAnthropicBody(error: ApiError, requestId: string): AnthropicErrorBody {
  const { details } = error
  return {
    type: 'error',
    error: { type: typeOf(error.status), message: messageOf(error), ...(details && { details }) },
    request_id: requestId,
  }
}

/** The headers of the error. Clients retry a 401 for more than a minute unless they are asked not to. */
export function anthropicErrorHeaders({ status, headers }: ApiError): Readonly<Record<string, string>> {
  return status === 401 ? { ...headers, 'x-should-retry': 'false' } : headers
}

const types: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [500, 'api_error'],
  [502, 'api_error'],
  [503, 'overloaded_error'],
])

function typeOf(status: number): string {
  return types.get(status) ?? (status > 500 ? 'api_error' : 'invalid_request_error')
}

const tooLong = 'prompt is too long'

/** Clients recognize by these words that they have to shorten the conversation. */
function messageOf({ code, message }: ApiError): string {
  if (code !== 'context_length_exceeded' || message.toLowerCase().includes(tooLong)) return message
  return `${tooLong}: ${message}`
}

/**
 * Whether the client speaks Anthropic's API: it sends the version of it, or its path belongs to that API. It then
 * receives the errors and the headers of that API, and may send its key as `x-api-key`.
 */
export function isAnthropicRequest(request: Request): boolean {
  if (request.headers.has('anthropic-version')) return true
  // The search is cheaper than the path, and true for almost no request of another API.
  return request.url.includes(root) && isBelow(root, requestPath(request))
}

const root = '/v1/messages'

function isBelow(prefix: string, path: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}
