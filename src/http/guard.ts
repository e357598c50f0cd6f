import { Elysia } from 'elysia'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import type { KeyDirectory } from '../storage/ports/key-directory.ts'
import { authentication } from './authentication.ts'
import { type BodyReaderParts, jsonBody } from './json-body.ts'
import { admission, setRateLimitHeaders } from './rate-limit-headers.ts'
import { decodablePath } from './request-path.ts'

/** The checks in front of every API route: first the key, then the rate limits, then the body. */
export type Guard = ReturnType<typeof createGuard>

export type GuardParts = {
  readonly keys: KeyDirectory
  readonly limits: RateLimits
} & Omit<BodyReaderParts, 'timeoutMs'>

/** Creates the guard: routes of a plugin that uses it have a `caller`, its `admission`, and `readBody`. */
export function createGuard({ keys, limits, ...body }: GuardParts) {
  return new Elysia({ name: 'guard' })
    .use(authentication(keys))
    .derive(admission(limits))
    .use(decodablePath())
    .use(jsonBody(body))
    .mapResponse(setRateLimitHeaders)
    .as('scoped')
}
