import { requestPath } from './request-path.ts'

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
