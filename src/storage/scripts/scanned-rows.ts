import { type Column, eq, type SQL, sql, type Table } from 'drizzle-orm'
import { oneStep, stepRows } from '../common/store-limits.ts'
import { reservations } from '../schema/organizations.ts'
import { usage } from '../schema/usage.ts'
import { select } from '../sql.ts'
import { type Parameters, type RowKey, type Script, type ScriptRunner, statement } from '../statement.ts'
import { lockTotals } from './usage-expiry.ts'

const lowestKey: RowKey = { time: Number.MIN_SAFE_INTEGER, id: '' }
const highestKey: RowKey = { time: Number.MAX_SAFE_INTEGER, id: '\u{10FFFF}' }

/** The rows that one step reads. */
const rangeRows = 5000

/** The tables without an index on the organization. */
export const scannedRows = [
  scanned(usage, [usage.created_at, usage.id], lengthOf(usage.user, usage.tags, usage.trace, usage.details)),
  scanned(reservations, [reservations.request_id], lengthOf(reservations.request)),
]

function lengthOf(...columns: readonly Column[]): SQL<number> {
  return sql.join(
    columns.map((column) => sql`coalesce(octet_length(${column}), 0)`),
    sql` + `,
  ) as SQL<number>
}

/**
 * Deletes the rows of the organization range by range, and yields their number after each. A transaction is begun only for
 * ranges with rows to delete.
 */
export async function* deleteScannedRows(
  rows: ReturnType<typeof scanned>,
  organization: string,
  { read, transact, subtractSums }: ScriptRunner,
): AsyncGenerator<number, void> {
  const { endOf, find, remove, areSummed } = rows
  function* removeUpTo(last: RowKey, after: RowKey): Script<void> {
    if (areSummed) {
      yield* lockTotals()
      yield* subtractSums(organization, after, last)
    }
    yield* remove(organization, after, last)
  }
  for (let after = lowestKey; ;) {
    const from = after
    const [end] = await read(() => endOf(from))
    const found = oneStep(await read(() => find(organization, from, end ?? highestKey)))
    const last = found.at(-1)
    if (last === undefined && end === undefined) return
    if (last) await transact(() => removeUpTo(last, from))
    yield found.length
    after = last ?? end ?? highestKey
  }
}

/** A table without an index on the organization, because an index would cost every request. It is read by range. */
function scanned(
  table: Table & { readonly organization_id: Column },
  key: readonly [...Column[], Column],
  bytes: SQL<number>,
) {
  const columns = sql.join([...key], sql`, `)
  const fields = {
    time: key.length > 1 ? sql<number>`${key[0]}` : sql<number>`0`,
    id: sql<string>`${key.at(-1)}`,
  }
  const keyOf = (time: SQL, id: SQL) => (key.length > 1 ? sql`(${time}, ${id})` : id)
  const within = (values: Parameters<OwnRange>) =>
    sql`(${columns}) > ${keyOf(values.afterTime, values.afterId)}
      and (${columns}) <= ${keyOf(values.endTime, values.endId)}
      and ${eq(table.organization_id, values.organization)}`
  const end = statement((values: Parameters<Pick<Range, 'afterTime' | 'afterId'>>) =>
    select(
      fields,
      sql`from ${table} where (${columns}) > ${keyOf(values.afterTime, values.afterId)}
        order by ${columns} limit 1 offset ${sql.raw(String(rangeRows - 1))}`,
    ),
  )
  const own = statement((values: Parameters<OwnRange>) =>
    select(
      { ...fields, bytes },
      sql`from ${table} where ${within(values)} order by ${columns} limit ${sql.raw(String(stepRows))}`,
    ),
  )
  const remove = statement(
    (values: Parameters<OwnRange>) => sql<never>`delete from ${table} where ${within(values)}`,
  )
  return {
    /** Returns the last key of the range after this key; none if the range reaches the end of the table. */
    endOf: (after: RowKey) => end({ afterTime: after.time, afterId: after.id }),
    /** Whether the rows are part of the sums of usage. */
    areSummed: table === usage,
    /** Returns the keys of rows of the organization in a range, with their bytes. */
    find: (organization: string, after: RowKey, last: RowKey) =>
      own({ organization, ...rangeOf(after, last) }),
    /** Deletes the rows of the organization in a range. */
    remove: (organization: string, after: RowKey, last: RowKey) =>
      remove({ organization, ...rangeOf(after, last) }),
  }
}

/** A range of keys as values of a statement. */
type Range = { afterTime: number; afterId: string; endTime: number; endId: string }
type OwnRange = Range & { organization: string }

function rangeOf(after: RowKey, end: RowKey): Range {
  return { afterTime: after.time, afterId: after.id, endTime: end.time, endId: end.id }
}
