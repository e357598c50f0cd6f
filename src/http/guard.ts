import { Elysia } from 'elysia'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import { createDetachedRecord } from '../observability/request-record.ts'
import type { KeyDirectory } from '../storage/ports/known-keys.ts'
import type { AdminAccess } from './admin-access.ts'
import { authentication, type EndStream, type KeyWatch } from './authentication.ts'
import { sendEventStream } from './event-stream.ts'
import { type BodyReaderDependencies, jsonBody } from './json-body.ts'
import { admission, setRateLimitHeaders } from './rate-limit-headers.ts'
import { decodablePath } from './routing.ts'

/** The checks in front of every API route: first the key, then the rate limits, then the body. */
export type Guard = ReturnType<typeof createGuard>

type GuardDependencies = {
  readonly keys: KeyDirectory
  readonly limits: RateLimits
  readonly keyWatch: KeyWatch
  /** Absent where there is no admin key in the environment. */
  readonly adminAccess?: Pick<AdminAccess, 'isConfigured'>
} & Omit<BodyReaderDependencies, 'timeoutMs'>

/**
 * Creates the guard: routes of a plugin that uses it have a `caller`, its `admission`, `readBody`, `watchKey` and `record`,
 * which is here for the types: the telemetry of the application gives each request its own.
 */
export function createGuard({ keys, limits, keyWatch, adminAccess, ...body }: GuardDependencies) {
  return new Elysia({ name: 'guard' })
    .use(authentication(keys, Date.now, adminAccess?.isConfigured))
    .derive(admission(limits))
    .use(decodablePath())
    .use(jsonBody(body))
    .decorate('watchKey', watchKeyOf(keyWatch))
    .decorate('record', createDetachedRecord())
    .mapResponse(setRateLimitHeaders)
    .mapResponse(sendEventStream)
    .as('scoped')
}

/** Returns the `watch` of an event stream, by the key of its request. */
function watchKeyOf(keyWatch: KeyWatch) {
  return (keyId: string) => (end: EndStream) => keyWatch.watch(keyId, end)
}
