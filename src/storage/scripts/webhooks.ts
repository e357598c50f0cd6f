import { eq, lt, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import { startOfIds } from '../../lib/id.ts'
import { stepRows } from '../common/store-limits.ts'
import type {
  ClaimedDelivery,
  DeliveryKey,
  DeliveryResult,
  EndpointFilter,
  WebhookQueue,
} from '../ports/webhooks.ts'
import { webhook_deliveries as deliveries, webhook_events as events } from '../schema/webhooks.ts'
import { bare, returning, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { reportExpiringKeys } from './expiring-keys.ts'
import { createOutages } from './provider-outages.ts'
import { createDeliveryLists } from './webhook-deliveries.ts'
import { describeEvent, eventFields, organizationName } from './webhook-events.ts'

/** The webhooks of a database. `now` returns milliseconds since 1970. */
export function createWebhookQueue(runner: ScriptRunner, now: () => number = Date.now): WebhookQueue {
  const { read, transact, write } = runner
  return {
    due: (endpoints) => read(() => findDue(endpoints, now())),
    route: (endpoints, maxPending) => transact(() => route(endpoints, maxPending, now())),
    claim: (endpoint, limit, leaseMs) => transact(() => claim(endpoint, limit, leaseMs, now())),
    record: async (key, attempt, result) =>
      void (await write(() => setResult({ ...key, ...result, attempt }))),
    abandon: async (endpoint, error) => void (await write(() => setDead({ endpoint, error }))),
    reportExpiringKeys: () => transact(() => reportExpiringKeys(now())),
    expire: () => transact(() => expire(now())),
    ...createOutages(runner, now),
    ...createDeliveryLists(runner),
  }
}

function* findDue(names: readonly string[], now: number): Script<Awaited<ReturnType<WebhookQueue['due']>>> {
  const unrouted = (yield* selectUnrouted()).length > 0
  return { unrouted, endpoints: (yield* selectDue({ names, now })).map(({ endpoint }) => endpoint) }
}

const selectUnrouted = statement(() =>
  select({ id: events.id }, sql`from ${events} where not ${events.routed} limit 1`),
)

function isDue(endpoint: SQLWrapper, now: SQLWrapper): SQL {
  return sql`${deliveries.status} = 'pending' and ${deliveries.endpoint} = ${endpoint}
    and ${deliveries.next_at} <= ${now}`
}

const selectDue = statement((values: Parameters<{ names: readonly string[]; now: number }>, { rowsOf }) =>
  select(
    { endpoint: sql<string>`names.value` },
    sql`from ${rowsOf(values.names, 'names')}
      where exists (select 1 from ${deliveries} where ${isDue(sql`names.value`, values.now)})`,
  ),
)

type Routed = Awaited<ReturnType<WebhookQueue['route']>>

function* route(endpoints: readonly EndpointFilter[], maxPending: number, now: number): Script<Routed> {
  const found = yield* selectSome()
  for (const event of found) {
    const data = yield* describeEvent(event)
    if (data !== event.data) yield* setData({ id: event.id, data })
  }
  const unwanted = new Set(found.map(({ id }) => id))
  let omitted = 0
  for (const endpoint of endpoints) {
    const ids = found.filter((event) => isWanted(endpoint, event)).map(({ id }) => id)
    if (ids.length === 0) continue
    const [{ pending } = { pending: 0 }] = yield* countPending({ endpoint: endpoint.name })
    const accepted = ids.slice(0, Math.max(0, maxPending - Number(pending)))
    omitted += ids.length - accepted.length
    for (const id of accepted) unwanted.delete(id)
    if (accepted.length > 0) yield* insertDeliveries({ endpoint: endpoint.name, ids: accepted, now })
  }
  if (unwanted.size > 0) yield* deleteUnwanted({ ids: [...unwanted] })
  if (found.length > 0) yield* setRouted({ ids: found.map(({ id }) => id) })
  return { events: found.length, omitted }
}

type Routable = { readonly type: string; readonly organization: string | null; readonly name: string | null }

function isWanted({ events, organization }: EndpointFilter, event: Routable): boolean {
  const isOwn =
    organization === undefined || organization === event.name || organization === event.organization
  return isOwn && events.has(event.type)
}

const selectSome = statement((_, { forUpdate, skipLocked }) =>
  select(
    { ...eventFields, name: organizationName },
    sql`from ${events} where not ${events.routed} order by ${events.id} limit 100 ${forUpdate} ${skipLocked}`,
  ),
)

const setData = statement((values: Parameters<{ id: string; data: string }>) =>
  update(events, { data: values.data }, sql`where ${eq(events.id, values.id)}`),
)

const countPending = statement((values: Parameters<{ endpoint: string }>) =>
  select(
    { pending: sql<number>`count(*)` },
    sql`from ${deliveries} where ${deliveries.status} = 'pending' and ${deliveries.endpoint} = ${values.endpoint}`,
  ),
)

type NewDeliveries = { endpoint: string; ids: readonly string[]; now: number }

const insertDeliveries = statement(({ endpoint, ids, now }: Parameters<NewDeliveries>, { isOneOf }) => {
  const columns = sql`${bare(deliveries.event_id)}, ${bare(deliveries.endpoint)}, ${bare(deliveries.next_at)}`
  return sql<never>`insert into ${deliveries} (${columns})
    select ${events.id}, ${endpoint}, ${now} from ${events} where ${isOneOf(events.id, ids)} on conflict do nothing`
})

const deleteUnwanted = statement(
  ({ ids }: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
    sql<never>`delete from ${events} where ${isOneOf(events.id, ids)}`,
)

const setRouted = statement(
  ({ ids }: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
    sql<never>`update ${events} set ${bare(events.routed)} = true where ${isOneOf(events.id, ids)}`,
)

function* claim(
  filter: EndpointFilter,
  limit: number,
  leaseMs: number,
  now: number,
): Script<readonly ClaimedDelivery[]> {
  const endpoint = filter.name
  for (;;) {
    const found = yield* selectClaimable({ endpoint, limit, now })
    if (found.length === 0) return []
    const attempts = new Map(found.map((row) => [row.id, row.attempts + 1]))
    const rows = yield* selectEvents({ ids: [...attempts.keys()] })
    const wanted = rows.filter((event) => isWanted(filter, event))
    const ids = wanted.map(({ id }) => id)
    const unwanted = [...attempts.keys()].filter((id) => !ids.includes(id))
    if (unwanted.length > 0) yield* setUnwanted({ endpoint, ids: unwanted })
    if (wanted.length === 0) continue
    yield* setClaimed({ endpoint, ids, now, until: now + leaseMs })
    return wanted.map((event) => ({ event, attempt: attempts.get(event.id) ?? 1 }))
  }
}

const setUnwanted = statement(
  ({ endpoint, ids }: Parameters<{ endpoint: string; ids: readonly string[] }>, { isOneOf }) =>
    update(
      deliveries,
      { status: sql`'dead'`, error: sql`'The endpoint no longer receives such events.'` },
      sql`where ${deliveries.endpoint} = ${endpoint} and ${isOneOf(deliveries.event_id, ids)}`,
    ),
)

type Claim = { readonly endpoint: string; readonly limit: number; readonly now: number }

const selectClaimable = statement((values: Parameters<Claim>, { forUpdate, skipLocked }) =>
  select(
    { id: deliveries.event_id, attempts: deliveries.attempts },
    sql`from ${deliveries} where ${isDue(values.endpoint, values.now)}
      order by ${deliveries.next_at} limit ${values.limit} ${forUpdate} ${skipLocked}`,
  ),
)

type Claimed = { endpoint: string; ids: readonly string[]; now: number; until: number }

const setClaimed = statement(({ endpoint, ids, now, until }: Parameters<Claimed>, { isOneOf }) =>
  update(
    deliveries,
    { attempts: sql`${deliveries.attempts} + 1`, next_at: until, attempted_at: now },
    sql`where ${deliveries.endpoint} = ${endpoint} and ${isOneOf(deliveries.event_id, ids)}`,
  ),
)

const selectEvents = statement(({ ids }: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
  select(
    { ...eventFields, name: organizationName },
    sql`from ${events} where ${isOneOf(events.id, ids)} order by ${events.id}`,
  ),
)

const setResult = statement((values: Parameters<DeliveryKey & DeliveryResult & { attempt: number }>) =>
  update(
    deliveries,
    {
      status: values.status,
      next_at: values.nextAt,
      response_status: values.responseStatus,
      error: values.error,
    },
    sql`where ${deliveries.event_id} = ${values.event} and ${deliveries.endpoint} = ${values.endpoint}
      and (${deliveries.attempts} = ${values.attempt} or ${values.status} = 'delivered')
      and ${deliveries.status} = 'pending'`,
  ),
)

const setDead = statement((values: Parameters<{ endpoint: string; error: string }>) =>
  update(
    deliveries,
    { status: sql`'dead'`, error: values.error },
    sql`where ${deliveries.endpoint} = ${values.endpoint} and ${deliveries.status} = 'pending'`,
  ),
)

const dayMs = 86_400_000
/** How long a delivered event is kept, and any other one. */
const [deliveredMs, keptMs] = [3 * dayMs, 30 * dayMs]

function* expire(now: number): Script<number> {
  const delivered = yield* deleteDelivered({ before: startOfIds('evt_', now - deliveredMs) })
  if (delivered.length > 0) yield* deleteFinished({ ids: [...new Set(delivered.map(({ id }) => id))] })
  const old = yield* deleteOld({ before: startOfIds('evt_', now - keptMs) })
  return delivered.length + old.length
}

const limit = sql.raw(String(stepRows))

const deleteDelivered = statement(({ before }: Parameters<{ before: string }>) => {
  const key = sql`${bare(deliveries.event_id)}, ${bare(deliveries.endpoint)}`
  return returning(
    { id: deliveries.event_id },
    sql`delete from ${deliveries} where (${key}) in (select ${key} from ${deliveries}
      where ${deliveries.status} = 'delivered' and ${lt(deliveries.event_id, before)} limit ${limit})`,
  )
})

/** Of these events, deletes those that no endpoint has to receive any more. */
const deleteFinished = statement(
  ({ ids }: Parameters<{ ids: readonly string[] }>, { isOneOf }) =>
    sql<never>`delete from ${events} where ${isOneOf(events.id, ids)} and not exists (
      select 1 from ${deliveries} where ${eq(deliveries.event_id, events.id)})`,
)

const deleteOld = statement(({ before }: Parameters<{ before: string }>) =>
  returning(
    { id: events.id },
    sql`delete from ${events} where ${events.id} in (
      select ${events.id} from ${events} where ${lt(events.id, before)} limit ${limit})`,
  ),
)
