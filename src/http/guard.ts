import { Elysia } from 'elysia'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import type { KeyDirectory } from '../storage/ports/key-directory.ts'
import { authentication } from './authentication.ts'
import { decodedPath } from './decoded-path.ts'
import { jsonBody } from './json-body.ts'
import { admission, setRateLimitHeaders } from './rate-limit-headers.ts'

/** What every route of the interface stands behind: first the key, then the limits, then the body. */
export type Guard = ReturnType<typeof createGuard>

export type GuardParts = {
  readonly keys: KeyDirectory
  readonly limits: RateLimits
  readonly maxBody: number
}

/** Routes of a plugin that uses the guard have a `caller`, its `admission`, and `readBody`. */
export function createGuard({ keys, limits, maxBody }: GuardParts) {
  return new Elysia({ name: 'guard' })
    .use(authentication(keys))
    .derive(admission(limits))
    .use(decodedPath())
    .use(jsonBody(maxBody))
    .mapResponse(setRateLimitHeaders)
    .as('scoped')
}
