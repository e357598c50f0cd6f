import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { type Budget, budgetPeriods } from '../../domain/accounting/allowance.ts'
import { periodAt } from '../../domain/accounting/budget-period.ts'
import { billingModes, keyPermissions } from '../../domain/accounting/organization.ts'
import { allowedModels } from '../../gateway/models/allowed-models.ts'
import type { Models } from '../../gateway/models/models.ts'
import type { LimitValues, RateLimitStatus } from '../../storage/ports/limits.ts'
import type { Caller } from '../../http/authentication.ts'
import { budgetProperties } from '../../http/limits.ts'
import { renderBudget } from '../../http/render-limits.ts'
import type { Budgets } from '../../storage/ports/budgets.ts'
import type { Guard } from '../../http/guard.ts'
import { describe, guardErrors } from '../../http/describe.ts'
import { count, objectType, stringEnum, text } from '../../http/schema.ts'
import { noOrganization } from '../../lib/errors/http-errors.ts'
import { formatUsd } from '../../lib/usd.ts'
import type { OrganizationAccount, Organizations } from '../../storage/ports/accounts.ts'

/** A budget that applies to the key. */
const SpendableBudget = Type.Object(
  {
    owner: stringEnum(['organization', 'project', 'key'], { description: 'What the budget belongs to.' }),
    id: text('The ID of that.'),
    name: text('The name of that.'),
    period: stringEnum(budgetPeriods, { description: 'How often the budget is reset; `none` for never.' }),
    ...budgetProperties,
  },
  { title: 'SpendableBudget' },
)

/** The organization of the key that asks for it. */
const OwnOrganization = Type.Object(
  {
    object: objectType('organization'),
    id: text('The ID of the organization.'),
    name: text('The name of the organization.'),
    api_key_id: text('The ID of the API key of the request.'),
    billing: stringEnum(billingModes, {
      description:
        'How requests are paid: `unmetered` records them, `prepaid` pays them from the balance, `none` rejects them.',
    }),
    balance_usd: text('The balance in USD, as an exact decimal number.'),
    reserved_usd: text('The part of the balance that open requests have reserved.'),
    available_usd: text('The balance without the reserved part: what new requests can use.'),
    limits: Type.Object(
      {
        requests_per_minute: count('The requests per minute.'),
        tokens_per_minute: count('The tokens per minute.'),
        concurrent_requests: count('The requests at once.'),
      },
      { description: 'The limits that apply, those of the organization or of the settings.' },
    ),
    remaining: Type.Object(
      { requests: count('The requests that are left now.'), tokens: count('The tokens that are left now.') },
      { description: 'What is left of the limits per minute, as in the headers `x-ratelimit-remaining-…`.' },
    ),
    reset_ms: Type.Object(
      {
        requests: count('Milliseconds until all requests are available.'),
        tokens: count('Milliseconds until all tokens are available.'),
      },
      { description: 'When the limits per minute are available in full, if nothing more is requested.' },
    ),
    budgets: Type.Array(SpendableBudget, {
      description:
        'The budgets that apply to the API key: of the organization, of its project, and its own. A request must fit in all of them.',
    }),
    project: Type.Union([Type.Object({ id: text('The ID.'), name: text('The name.') }), Type.Null()], {
      description: 'The project of the API key; null if it has none.',
    }),
    models: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'The enabled models that the API key may use; null for all of them.',
    }),
    permissions: Type.Array(stringEnum(keyPermissions), {
      description:
        'What the API key may do beside sending requests: manage its organization, or create keys out of its own budget.',
    }),
    content_log: Type.Boolean({
      description:
        'Whether the operator keeps the content of the requests of the API key: what they ask, and what is answered.',
    }),
    created_at: text('When the organization was created, in ISO 8601.'),
  },
  {
    title: 'OwnOrganization',
    examples: [
      {
        object: 'organization',
        id: 'org_0199f2d5c1e07a3b',
        name: 'acme',
        api_key_id: '8fK2mQ9xLw',
        billing: 'prepaid',
        balance_usd: '12.499814',
        reserved_usd: '0.02',
        available_usd: '12.479814',
        limits: { requests_per_minute: 600, tokens_per_minute: 2_000_000, concurrent_requests: 100 },
        remaining: { requests: 598, tokens: 1_995_210 },
        reset_ms: { requests: 200, tokens: 144 },
        budgets: [
          {
            owner: 'key',
            id: '8fK2mQ9xLw',
            name: 'agent',
            period: 'day',
            limit_usd: '5.00',
            spent_usd: '1.25',
            reserved_usd: '0.02',
            held_usd: '0.00',
            allocated_usd: '0.00',
            left_usd: '3.73',
            resets_at: '2026-03-15T00:00:00.000Z',
          },
        ],
        project: { id: 'proj_0199f2d5c1e07a3c', name: 'research' },
        models: null,
        permissions: [],
        content_log: false,
        created_at: '2026-03-14T09:26:53.589Z',
      },
    ],
  },
)

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
export type OwnOrganizationDependencies = {
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

/** What is left of each budget in its period at this time. */
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
