import { Elysia } from 'elysia'
import { type AddressOf, actorOf } from '../../http/actor.ts'
import type { AdminAccess } from '../../http/admin-access.ts'
import { isReading, requireOwnOrigin } from '../../http/cors.ts'
import {
  describe,
  type ErrorStatus,
  errorsOf,
  guardErrors,
  type GuardedDescription,
} from '../../http/describe.ts'
import { createBodyReader } from '../../http/json-body.ts'
import { decodablePath } from '../../http/routing.ts'
import { MemoryBudget } from '../../lib/memory-budget.ts'
import type { Validator } from '../../lib/validation/validator.ts'

/** The check in front of the admin API. */
export type AdminGuard = ReturnType<typeof createAdminGuard>

export type AdminGuardDependencies = {
  readonly adminAccess: AdminAccess
  readonly addressOf: AddressOf
  /** The origins whose pages may call the gateway. */
  readonly cors: readonly string[]
}

/** In bytes. */
const maxBody = 64 * 1024

/**
 * Accepts only admin keys, before the body is read: for a change, those with the permission `write`. Routes have that key as
 * `operator`, and as the `actor` of their changes, and read the body of a change with `readChange`.
 */
export function createAdminGuard({ adminAccess, addressOf, cors }: AdminGuardDependencies) {
  const readChange = createChangeReader()
  return new Elysia({ name: 'admin-guard' })
    .derive(async function requireOperator({ request }) {
      const operator = await adminAccess.require(request.headers, isReading(request) ? 'read' : 'write')
      requireOwnOrigin(request, cors)
      return {
        operator,
        actor: actorOf({ type: 'admin_key', ...operator }, request, addressOf),
        readChange: <Body>(body: Validator<Body>) => readChange(request, body),
      }
    })
    .use(decodablePath())
    .as('scoped')
}

/** Reads and validates the body of a change; throws a 4xx. The operator has no limits but that of the body. */
function createChangeReader() {
  const readBody = createBodyReader({ maxBody })
  const memory = new MemoryBudget()
  return <Body>(request: Request, body: Validator<Body>) => {
    const lease = memory.lease('operator')
    const admission = { acquireSlot() {}, tryAcquireSlot: () => true, memory: lease }
    return readBody(request, body, { admission }).finally(lease.release)
  }
}

/** The admin API has no rate limits. */
const isPossible = (status: ErrorStatus) => status !== 429

/** The errors of every route of the admin API. */
export const adminErrors = guardErrors.filter(isPossible)

/** Describes a route of the admin API. */
export function describeAdmin(description: GuardedDescription) {
  return describe({ ...description, tag: 'Admin', errors: errorsOf(description).filter(isPossible) })
}
