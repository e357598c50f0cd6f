import { Elysia } from 'elysia'
import type { RateLimits } from '../../gateway/rate-limits/rate-limits.ts'
import { type AdminKey, authenticateHeaders } from '../../http/authentication.ts'
import { admission, setRateLimitHeaders } from '../../http/rate-limit-headers.ts'
import type { KeyDirectory } from '../../storage/ports/accounts.ts'

/** What the check in front of usage reports depends on. */
export type UsageGuardDependencies = {
  readonly keys: KeyDirectory
  readonly limits: RateLimits
  readonly adminKey: AdminKey
}

/** The check in front of usage reports: routes of a plugin that uses it have a `caller`, or none for the operator. */
export type UsageGuard = ReturnType<typeof createUsageGuard>

/** Accepts the key of an organization, within its rate limits, or the admin key. */
export function createUsageGuard({ keys, limits, adminKey }: UsageGuardDependencies) {
  const admit = admission(limits)
  return new Elysia({ name: 'usage-guard' })
    .derive(async function authenticate({ request: { headers } }) {
      return { caller: adminKey.accepts(headers) ? undefined : await authenticateHeaders(keys, headers) }
    })
    .derive(async function admitCaller({ caller, request, set }) {
      const admitted = caller && (await admit({ caller, request, set }))
      return { admission: admitted?.admission }
    })
    .mapResponse(setRateLimitHeaders)
    .as('scoped')
}
