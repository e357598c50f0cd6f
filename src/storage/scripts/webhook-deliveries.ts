import { eq, type SQL, sql } from 'drizzle-orm'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import {
  type DeliveryCounts,
  type DeliveryKey,
  type DeliveryQuery,
  type DeliveryRecord,
  maxRetried,
  parseDeliveryId,
  type Webhooks,
} from '../ports/webhooks.ts'
import { webhook_deliveries as deliveries, webhook_events as events } from '../schema/webhooks.ts'
import { bare, returning, type RowOf, select, update } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'

/** What the operator sees and does of the deliveries in a database. */
export function createDeliveryLists(
  { read, transact }: ScriptRunner,
  now: () => number,
): Pick<Webhooks, 'list' | 'counts' | 'retry' | 'retryDead'> {
  return {
    list: (query) => read(() => listDeliveries(query)),
    counts: () => read(countUndelivered),
    retry: (key) => transact(() => retryOne(key, now())),
    retryDead: (endpoint) => transact(() => retryDead(endpoint, now())),
  }
}

const fields = {
  event: deliveries.event_id,
  endpoint: deliveries.endpoint,
  type: events.type,
  organization: events.organization_id,
  data: events.data,
  createdAt: events.created_at,
  status: deliveries.status,
  attempts: deliveries.attempts,
  nextAt: deliveries.next_at,
  attemptedAt: deliveries.attempted_at,
  responseStatus: deliveries.response_status,
  error: deliveries.error,
}

const joined = sql`from ${deliveries} join ${events} on ${eq(events.id, deliveries.event_id)}`

function* listDeliveries(query: DeliveryQuery): Script<ListedPage<DeliveryRecord>> {
  const { after, limit, order, status, endpoint } = query
  const last = after === undefined ? undefined : parseDeliveryId(after)
  const key = sql`(${deliveries.event_id}, ${deliveries.endpoint})`
  const follows = order === 'asc' ? sql`>` : sql`<`
  const conditions: SQL[] = [
    ...(status === undefined ? [] : [eq(deliveries.status, status)]),
    ...(endpoint === undefined ? [] : [eq(deliveries.endpoint, endpoint)]),
    ...(last === undefined ? [] : [sql`${key} ${follows} (${last.event}, ${last.endpoint})`]),
  ]
  const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``
  const [direction, id, name] = [sql.raw(order), deliveries.event_id, deliveries.endpoint]
  const rows = yield* execute(() =>
    select(
      fields,
      sql`${joined} ${where} order by ${id} ${direction}, ${name} ${direction} limit ${limit + 1}`,
    ),
  )
  return toListedPage(rows.map(toRecord), query)
}

function toRecord(row: RowOf<typeof fields>): DeliveryRecord {
  return { ...row, nextAt: row.status === 'pending' ? row.nextAt : null }
}

function* countUndelivered(): Script<ReadonlyMap<string, DeliveryCounts>> {
  const counts = new Map<string, DeliveryCounts>()
  for (const { endpoint, status, count } of yield* selectCounts())
    counts.set(endpoint, { ...(counts.get(endpoint) ?? { pending: 0, dead: 0 }), [status]: Number(count) })
  return counts
}

const selectCounts = statement(() =>
  select(
    { endpoint: deliveries.endpoint, status: deliveries.status, count: sql<number>`count(*)` },
    sql`from ${deliveries} where ${deliveries.status} in ('pending', 'dead')
      group by ${deliveries.endpoint}, ${deliveries.status}`,
  ),
)

function* retryOne(key: DeliveryKey, now: number): Script<DeliveryRecord | undefined> {
  yield* setPending({ ...key, now })
  const [row] = yield* selectOne(key)
  return row && toRecord(row)
}

/** An attempt that has not ended keeps its number, so that its failure does not count for a later one. */
const again = (now: SQL<number>) => ({
  status: sql`'pending'`,
  attempts: sql`case when ${deliveries.status} = 'pending' then ${deliveries.attempts} else 0 end`,
  next_at: now,
})

const setPending = statement((values: Parameters<DeliveryKey & { now: number }>) =>
  update(
    deliveries,
    again(values.now),
    sql`where ${deliveries.event_id} = ${values.event} and ${deliveries.endpoint} = ${values.endpoint}`,
  ),
)

const selectOne = statement((values: Parameters<DeliveryKey>) =>
  select(
    fields,
    sql`${joined} where ${deliveries.event_id} = ${values.event} and ${deliveries.endpoint} = ${values.endpoint}`,
  ),
)

function* retryDead(endpoint: string | undefined, now: number): Script<number> {
  const key = sql`${bare(deliveries.event_id)}, ${bare(deliveries.endpoint)}`
  const ofEndpoint = endpoint === undefined ? sql`` : sql`and ${deliveries.endpoint} = ${endpoint}`
  const changed = yield* execute(() =>
    update(
      deliveries,
      again(sql`${now}`),
      returning(
        { id: deliveries.event_id },
        sql`where (${key}) in (select ${key} from ${deliveries}
        where ${deliveries.status} = 'dead' ${ofEndpoint} order by ${key} desc limit ${sql.raw(String(maxRetried))})`,
      ),
    ),
  )
  return changed.length
}
