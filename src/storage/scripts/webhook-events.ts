import { eq, sql } from 'drizzle-orm'
import type { WebhookEventType } from '../../domain/accounting/webhook-event.ts'
import { timeSortedId } from '../../lib/id.ts'
import { formatUsd } from '../../lib/usd.ts'
import type { ResponseEnd } from '../ports/responses.ts'
import type { WebhookEvent } from '../ports/webhooks.ts'
import { api_keys, organizations, projects } from '../schema/organizations.ts'
import { webhook_events as events } from '../schema/webhooks.ts'
import { insertion, select } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'

/** The fields of a `StoredEvent`. */
export const eventFields = {
  id: events.id,
  organization: events.organization_id,
  type: events.type,
  createdAt: events.created_at,
  data: events.data,
}

/** The name of the organization of an event, for a select of it. */
export const organizationName = sql<string | null>`(
  select ${organizations.name} from ${organizations} where ${eq(organizations.id, events.organization_id)})`

type StoredEvent = WebhookEvent & { readonly organization: string | null; readonly name: string | null }

type NewEvent = {
  readonly organization?: string | null
  readonly type: WebhookEventType
  readonly createdAt: number
  readonly data: string
}

/** Part of a transaction: writes an event. */
export function* writeEvent({ organization = null, ...event }: NewEvent): Script<void> {
  const { createdAt: created_at, ...fields } = event
  yield* insertEvent({ id: timeSortedId('evt_'), organization_id: organization, created_at, ...fields })
}

const insertEvent = insertion(events, ['id', 'organization_id', 'type', 'created_at', 'data'])

/** The type of the event of the end of a background run, which has the name and the form of OpenAI's. */
export function runEventOf({
  status,
  cancelled,
}: Pick<ResponseEnd, 'status' | 'cancelled'>): WebhookEventType {
  return cancelled ? 'response.cancelled' : `response.${status}`
}

/** A budget as the transaction of a payment knows it; amounts in nano-dollars. */
export type BudgetCrossing = {
  readonly owner: string
  readonly start: number
  readonly threshold: number
  readonly limit: string
  readonly spent: string
}

/** A balance as that transaction knows it. */
export type LowBalance = { readonly balance: string; readonly threshold: string }

/** Returns the data of an event as endpoints receive it. */
export function* describeEvent({ type, organization: id, name, data }: StoredEvent): Script<string> {
  const organization = { id, name }
  switch (type) {
    case 'budget.threshold':
      return JSON.stringify(yield* describeBudget(JSON.parse(data) as BudgetCrossing, organization))
    case 'balance.low': {
      const { balance, threshold } = JSON.parse(data) as LowBalance
      const [balance_usd, threshold_usd] = [balance, threshold].map((amount) => formatUsd(BigInt(amount)))
      return JSON.stringify({ organization, balance_usd, threshold_usd })
    }
    default:
      return data
  }
}

type Owner = { readonly id: string | null; readonly name: string | null }

function* describeBudget({ owner, start, threshold, limit, spent }: BudgetCrossing, organization: Owner) {
  return {
    organization,
    owner: yield* describeOwner(owner, organization),
    threshold_percent: threshold,
    budget_usd: formatUsd(BigInt(limit)),
    spent_usd: formatUsd(BigInt(spent)),
    period_start: start === 0 ? null : Math.floor(start / 1000),
  }
}

/** Returns the organization, or the project or the key of it, to which a budget belongs. */
export function* describeOwner(
  id: string,
  organization: Owner,
): Script<Owner & { readonly type: 'organization' | 'project' | 'api_key' }> {
  if (id === organization.id) return { type: 'organization', ...organization }
  const [project] = yield* selectProject({ id })
  if (project) return { type: 'project', id, name: project.name }
  const [key] = yield* selectKey({ id })
  return { type: 'api_key', id, name: key?.name ?? null }
}

const selectProject = statement(({ id }: Parameters<{ id: string }>) =>
  select({ name: projects.name }, sql`from ${projects} where ${eq(projects.id, id)}`),
)

const selectKey = statement(({ id }: Parameters<{ id: string }>) =>
  select({ name: api_keys.name }, sql`from ${api_keys} where ${eq(api_keys.public_id, id)}`),
)
