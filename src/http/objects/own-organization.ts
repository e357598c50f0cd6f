import { Type } from 'typebox'
import { budgetPeriods } from '../../domain/accounting/allowance.ts'
import { billingModes, keyPermissions } from '../../domain/accounting/organization.ts'
import { count, objectType, stringEnum, text } from '../schema.ts'
import { budgetProperties } from './limits.ts'

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
export const OwnOrganization = Type.Object(
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
