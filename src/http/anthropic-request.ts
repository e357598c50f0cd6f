import { requestPath } from './request-path.ts'

/**
 * Whether the client speaks Anthropic's API: it sends the version of it, or its path belongs to that API. It then
 * receives the errors and the headers of that API, and may send its key as `x-api-key`.
 */
export function isAnthropicRequest(request: Request): boolean {
  return request.headers.has('anthropic-version') || /^\/v1\/messages(?:\/|$)/.test(requestPath(request))
}
