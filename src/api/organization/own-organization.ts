import { Elysia } from 'elysia'
import { type Budget } from '../../domain/accounting/allowance.ts'
import { periodAt } from '../../domain/accounting/budget-period.ts'
import { allowedModels } from '../../gateway/models/allowed-models.ts'
import type { Models } from '../../gateway/models/models.ts'
import type { LimitValues, RateLimitStatus } from '../../storage/ports/limits.ts'
import type { Caller } from '../../http/authentication.ts'
import { OwnOrganization } from '../../http/objects/own-organization.ts'
import { renderBudget } from '../../http/render-limits.ts'
import type { Budgets } from '../../storage/ports/budgets.ts'
import type { Guard } from '../../http/guard.ts'
import { describe, guardErrors } from '../../http/describe.ts'
import { noOrganization } from '../../lib/errors/http-errors.ts'
import { formatUsd } from '../../lib/usd.ts'
import type { OrganizationAccount, Organizations } from '../../storage/ports/accounts.ts'

const detail = describe({
  tag: 'Organization',
  id: 'getOwnOrganization',
  summary: 'Get the organization of the API key',
  description:
    'Returns the organization of the API key with its billing, balance, budgets and limits, and what is left of them.',
  reply: OwnOrganization,
  errors: guardErrors,
})

/** The stores that the organization of a key is read from. */
type OwnOrganizationDependencies = {
  readonly organizations: Pick<Organizations, 'find'>
  readonly budgets: Pick<Budgets, 'read'>
  /** The limits of organizations that have none of their own. */
  readonly limits: LimitValues
  readonly models: () => Models
  /** Milliseconds since 1970, by which the periods of budgets begin. */
  readonly now?: (() => number) | undefined
}

/** `GET /v1/organization`: what an organization can know about itself. */
export function ownOrganizationRoutes(guard: Guard, parts: OwnOrganizationDependencies) {
  const { organizations, limits, models, now = Date.now } = parts
  return new Elysia({ name: 'own-organization' }).use(guard).get(
    '/v1/organization',
    async ({ caller, admission }) => {
      const account = await organizations.find(caller.organization.id)
      if (account === undefined) throw noOrganization(caller.keyId)
      const { budgets, models: lists } = caller.limits
      return {
        ...render(account, caller, { limits, status: admission.status() }),
        budgets: await readBudgets(account.id, budgets, parts.budgets, now()),
        project: caller.project,
        models: lists ? allowedModels(models(), lists).enabled.map(({ slug }) => slug) : null,
        permissions: caller.permissions,
        content_log: caller.contentLog,
        created_at: new Date(account.createdAt).toISOString(),
      }
    },
    { detail },
  )
}

type Limited = { readonly limits: LimitValues; readonly status: RateLimitStatus }

function render(account: OrganizationAccount, caller: Caller, { limits, status }: Limited) {
  const { id, name, billing, balance, reserved } = account
  const { requests, tokens } = status
  return {
    object: 'organization',
    id,
    name,
    api_key_id: caller.keyId,
    billing,
    balance_usd: formatUsd(balance),
    reserved_usd: formatUsd(reserved),
    available_usd: formatUsd(balance - reserved),
    limits: {
      requests_per_minute: requests.limit,
      tokens_per_minute: tokens.limit,
      concurrent_requests: fewestCalls(
        account.limits.concurrentRequests ?? limits.concurrentRequests,
        caller,
      ),
    },
    remaining: { requests: requests.remaining, tokens: tokens.remaining },
    reset_ms: { requests: requests.resetMs, tokens: tokens.resetMs },
  }
}

/** The calls at once that the organization, the project and the key allow. */
function fewestCalls(limit: number, { limits: { rateLimited } }: Caller): number {
  return Math.min(limit, ...rateLimited.map((owner) => owner.limits.concurrentRequests ?? limit))
}

/** Returns each budget with what is left of it in its period at this time. */
async function readBudgets(
  organization: string,
  applied: readonly Budget[],
  budgets: Pick<Budgets, 'read'>,
  now: number,
) {
  if (applied.length === 0) return []
  const periods = applied.map(({ period, timeZone }) => periodAt(period, timeZone, now))
  const keys = applied.map(({ owner }, index) => ({ owner, start: periods[index]?.start ?? 0 }))
  const uses = await budgets.read(organization, keys)
  return applied.flatMap(({ kind, owner, name, amount, period: every }, index) => {
    const [use, period] = [uses[index], periods[index]]
    if (use === undefined || period === undefined) return []
    return [{ owner: kind, id: owner, name, period: every, ...renderBudget(amount, { use, period }) }]
  })
}
