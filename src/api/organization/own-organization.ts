import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { billingModes } from '../../domain/accounting/organization.ts'
import type { LimitValues, RateLimitStatus } from '../../storage/ports/limits.ts'
import type { Caller } from '../../http/authentication.ts'
import type { Guard } from '../../http/guard.ts'
import { describe, guardErrors } from '../../http/describe.ts'
import { stringEnum } from '../../http/schema.ts'
import { noOrganization } from '../../lib/errors/http-errors.ts'
import { formatUsd } from '../../lib/usd.ts'
import type { OrganizationAccount, Organizations } from '../../storage/ports/accounts.ts'

const text = (description: string) => Type.String({ description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

/** The organization of the key that asks for it. */
const OwnOrganization = Type.Object(
  {
    object: Type.Literal('organization', { description: 'The type of the object.' }),
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
    'Returns the organization of the API key with its billing, balance and limits, and what is left of them.',
  reply: OwnOrganization,
  errors: guardErrors,
})

/** The stores that the organization of a key is read from. */
export type OwnOrganizationDependencies = {
  readonly organizations: Pick<Organizations, 'find'>
  /** The limits of organizations that have none of their own. */
  readonly limits: LimitValues
}

/** `GET /v1/organization`: what an organization can know about itself. */
export function ownOrganizationRoutes(guard: Guard, { organizations, limits }: OwnOrganizationDependencies) {
  return new Elysia({ name: 'own-organization' }).use(guard).get(
    '/v1/organization',
    async ({ caller, admission }) => {
      const account = await organizations.find(caller.organization.id)
      if (account === undefined) throw noOrganization(caller.keyId)
      return render(account, caller, { limits, status: admission.status() })
    },
    { detail },
  )
}

type Limited = { readonly limits: LimitValues; readonly status: RateLimitStatus }

function render(account: OrganizationAccount, { keyId }: Caller, { limits, status }: Limited) {
  const { id, name, billing, balance, reserved, createdAt } = account
  const { requests, tokens } = status
  return {
    object: 'organization',
    id,
    name,
    api_key_id: keyId,
    billing,
    balance_usd: formatUsd(balance),
    reserved_usd: formatUsd(reserved),
    available_usd: formatUsd(balance - reserved),
    limits: {
      requests_per_minute: requests.limit,
      tokens_per_minute: tokens.limit,
      concurrent_requests: account.limits.concurrentRequests ?? limits.concurrentRequests,
    },
    remaining: { requests: requests.remaining, tokens: tokens.remaining },
    reset_ms: { requests: requests.resetMs, tokens: tokens.resetMs },
    created_at: new Date(createdAt).toISOString(),
  }
}
