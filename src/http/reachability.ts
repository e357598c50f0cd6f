import { Elysia } from 'elysia'
import { requestPath } from './request-path.ts'

/**
 * Replies to `HEAD /`, by which clients of Anthropic's API check that the address is reachable. No key is needed.
 * Added before the telemetry, which would wait for the end of a request that it has seen begin.
 */
export function reachability() {
  return new Elysia({ name: 'reachability' }).onRequest(function confirm({ request }) {
    return request.method === 'HEAD' && requestPath(request) === '/' ? new Response(null) : undefined
  })
}
