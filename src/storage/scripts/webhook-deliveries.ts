import { eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { camelCase } from '../../lib/text.ts'
import { isoTimeOrNull } from '../../lib/time.ts'
import type { AuditFields } from '../ports/audit.ts'
import { type ListedPage, toListedPage } from '../ports/listed-pages.ts'
import {
  type DeliveryCounts,
  type DeliveryKey,
  type DeliveryQuery,
  type DeliveryRecord,
  maxRetried,
  parseDeliveryId,
  printDeliveryId,
  type Webhooks,
} from '../ports/webhooks.ts'
import { webhook_deliveries as deliveries, webhook_events as events } from '../schema/webhooks.ts'
import { bare, ifEqual, returning, type RowOf, select, update, where } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { type Change, recordChange } from './audit.ts'
import { organizationName } from './webhook-events.ts'

/** The reads of deliveries, for the operator. */
export function createDeliveryLists({ read }: ScriptRunner): Pick<Webhooks, 'list' | 'counts'> {
  return { list: (query) => read(() => listDeliveries(query)), counts: () => read(countUndelivered) }
}

/** The changes of deliveries by an actor. */
export function createDeliveryRetries(
  { transact }: ScriptRunner,
  by: () => Change,
): Pick<Webhooks, 'retry' | 'retryDead'> {
  return {
    retry: (key) => transact(() => retryOne(key, by())),
    retryDead: (endpoint) => transact(() => retryDead(endpoint, by())),
  }
}

const { event_id, ...columns } = getTableColumns(deliveries)

const fields = {
  event: event_id,
  ...camelCase(columns),
  type: events.type,
  organization: events.organization_id,
  organizationName,
  data: events.data,
  createdAt: events.created_at,
}

const joined = sql`from ${deliveries} join ${events} on ${eq(events.id, deliveries.event_id)}`

function* listDeliveries(query: DeliveryQuery): Script<ListedPage<DeliveryRecord>> {
  const { after, limit, order, status, endpoint } = query
  const last = after === undefined ? undefined : parseDeliveryId(after)
  const key = sql`(${deliveries.event_id}, ${deliveries.endpoint})`
  const follows = order === 'asc' ? sql`>` : sql`<`
  const conditions = where(
    ifEqual(deliveries.status, status),
    ifEqual(deliveries.endpoint, endpoint),
    last && sql`${key} ${follows} (${last.event}, ${last.endpoint})`,
  )
  const [direction, id, name] = [sql.raw(order), deliveries.event_id, deliveries.endpoint]
  const rows = yield* execute(() =>
    select(
      fields,
      sql`${joined} ${conditions} order by ${id} ${direction}, ${name} ${direction} limit ${limit + 1}`,
    ),
  )
  return toListedPage(rows.map(toRecord), query)
}

function toRecord(row: RowOf<typeof fields>): DeliveryRecord {
  const { organizationName: _, ...record } = row
  return { ...record, nextAt: row.status === 'pending' ? row.nextAt : null }
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

function* retryOne(key: DeliveryKey, by: Change): Script<DeliveryRecord | undefined> {
  const [row] = yield* selectOne(key)
  if (row === undefined) return undefined
  yield* setPending({ ...key, now: by.now })
  const [changed = row] = yield* selectOne(key)
  yield* recordChange(by, {
    event: 'webhook_delivery.retried',
    resource: { type: 'webhook_delivery', id: printDeliveryId(key), name: key.endpoint },
    organization:
      row.organization === null ? undefined : { id: row.organization, name: row.organizationName },
    before: valuesOf(row),
    after: valuesOf(changed),
  })
  return toRecord(changed)
}

function valuesOf(row: RowOf<typeof fields>): AuditFields {
  const { status, attempts, nextAt } = toRecord(row)
  return { status, attempts, next_attempt_at: isoTimeOrNull(nextAt) }
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

function* retryDead(endpoint: string | undefined, by: Change): Script<number> {
  const key = sql`${bare(deliveries.event_id)}, ${bare(deliveries.endpoint)}`
  const ofEndpoint = endpoint === undefined ? sql`` : sql`and ${deliveries.endpoint} = ${endpoint}`
  const changed = yield* execute(() =>
    update(
      deliveries,
      again(sql`${by.now}`),
      returning(
        { id: deliveries.event_id },
        sql`where (${key}) in (select ${key} from ${deliveries}
        where ${deliveries.status} = 'dead' ${ofEndpoint} order by ${key} desc limit ${sql.raw(String(maxRetried))})`,
      ),
    ),
  )
  if (changed.length > 0)
    yield* recordChange(by, {
      event: 'webhook.retried',
      resource: { type: 'webhook', id: null, name: endpoint ?? null },
      before: null,
      after: { deliveries: changed.length },
    })
  return changed.length
}
