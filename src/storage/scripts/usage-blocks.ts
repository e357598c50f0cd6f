import { and, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { UsageUpkeep } from '../ports/storage.ts'
import { usage, usage_blocks, usage_rollup } from '../schema/usage.ts'
import { bare, type RowOf, select } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { lockTotals } from './usage-expiry.ts'

/** The properties by which requests are found, as they are in `usage_blocks`. */
type UsageProperty =
  'organization' | 'project' | 'key' | 'model' | 'provider' | 'status' | 'error' | 'user' | 'session'

/**
 * The rows of a block, but for others of its last millisecond. Fewer would make more blocks, more would have to be read for
 * each request that is rare.
 */
export const blockRows = 256

/** The property that every block has. */
const anyProperty = 0

/**
 * Returns the value of `usage_blocks.property`: the same in every version of the program. Where two are the same, more blocks
 * are read.
 */
export function propertyOf(name: UsageProperty, value: string): number {
  return Number(BigInt.asUintN(53, Bun.hash.xxHash64(`${name}\0${value}`)))
}

/** Adds a block with each step of the totals, which it follows: under load, they are never complete. See `UsageUpkeep.rollUp`. */
export function rollUpWithBlocks(
  rollUp: UsageUpkeep['rollUp'],
  { read, transact }: ScriptRunner,
): UsageUpkeep['rollUp'] {
  return async () => {
    const added = await rollUp()
    const block = await read(nextBlock)
    return block === undefined ? added : added + (await transact(() => addBlock(block)))
  }
}

/** A part of the rows: those created from `from` on and before `until`. */
export type Range = { readonly from: number; readonly until: number }

/** The oldest rows that are in no block and that the totals have, so that others are added with `addLateRow`. */
function* nextBlock(): Script<Range | undefined> {
  const [bounds] = yield* selectBounds()
  if (bounds === undefined) return undefined
  const [last] = yield* selectLast({ ...bounds, index: blockRows - 1 })
  return last && { from: bounds.from, until: last.createdAt + 1 }
}

/** If another process has added it meanwhile, nothing changes. */
function* addBlock(block: Range): Script<number> {
  yield* lockTotals()
  const rows = yield* selectRows(block)
  yield* insertProperties([anyProperty, ...rows.flatMap(propertiesOf)], block.until)
  return rows.length
}

/** Part of a transaction: adds a row that was recorded late to the block of its time, if there is one. */
export function* addLateRow(createdAt: number, id: string): Script<void> {
  const [row] = yield* selectLate({ createdAt, id })
  if (row === undefined || row.until === null) return
  const { until, ...properties } = row
  yield* insertProperties(propertiesOf(properties), until)
}

type Row = RowOf<typeof fields>

function propertiesOf({ status, error: code, ...texts }: Row): readonly number[] {
  const error = code ?? (isFailed(status) ? `status_${status}` : null)
  const properties = Object.entries({ ...texts, error }).flatMap(([name, value]) =>
    value === null ? [] : [propertyOf(name as UsageProperty, value)],
  )
  return [...properties, ...statusesOf(status, error).map((text) => propertyOf('status', text))]
}

function isFailed(status: number): boolean {
  return status < 200 || status > 299
}

/** The words that select a status: itself, its class as in reports, and `failed`. */
function statusesOf(status: number, error: string | null): readonly string[] {
  return [
    String(status),
    ...(error === null ? [] : ['failed']),
    ...(status >= 400 && status < 499 ? ['4xx'] : []),
    ...(status >= 500 ? ['5xx'] : []),
  ]
}

function* insertProperties(properties: readonly number[], until: number): Script<void> {
  const distinct = [...new Set(properties)].toSorted((one, other) => one - other)
  yield* insertBlocks({ properties: distinct.map(String), until })
}

const fields = {
  organization: usage.organization_id,
  key: usage.key_id,
  model: usage.model,
  provider: usage.provider,
  status: usage.status,
  error: usage.error,
  user: usage.user,
  project: usage.project_id,
  session: usage.session,
}

const selectBounds = statement(() =>
  select(
    {
      from: sql<number>`coalesce((select max(${usage_blocks.until}) from ${usage_blocks}
        where ${usage_blocks.property} = ${anyProperty}), 0)`,
      before: usage_rollup.until,
    },
    sql`from ${usage_rollup}`,
  ),
)

const selectLast = statement((values: Parameters<{ from: number; before: number; index: number }>) =>
  select(
    { createdAt: usage.created_at },
    sql`from ${usage} where ${usage.created_at} >= ${values.from} and ${usage.created_at} < ${values.before}
      order by ${usage.created_at}, ${usage.id} limit 1 offset ${values.index}`,
  ),
)

const selectRows = statement((values: Parameters<Range>) =>
  select(
    fields,
    sql`from ${usage} where ${and(gte(usage.created_at, values.from), lt(usage.created_at, values.until))}`,
  ),
)

const selectLate = statement((values: Parameters<{ createdAt: number; id: string }>) =>
  select(
    {
      ...fields,
      until: sql<number | null>`(select min(${usage_blocks.until}) from ${usage_blocks}
        where ${usage_blocks.property} = ${anyProperty} and ${usage_blocks.until} > ${usage.created_at})`,
    },
    sql`from ${usage} where ${and(eq(usage.created_at, values.createdAt), eq(usage.id, values.id))}`,
  ),
)

const insertBlocks = statement(
  (values: Parameters<{ properties: readonly string[]; until: number }>, { rowsOf }) =>
    sql<never>`insert into ${usage_blocks} (${bare(usage_blocks.property)}, ${bare(usage_blocks.until)})
      select cast(found.value as bigint), cast(${values.until} as bigint)
      from ${rowsOf(values.properties, 'found')} where true on conflict do nothing`,
)

/** Returns the time before which all rows are in blocks. */
export function* endOfBlocks(): Script<number> {
  const [found] = yield* selectEnd()
  return found?.end ?? 0
}

const selectEnd = statement(() =>
  select(
    { end: sql<number>`coalesce(max(${usage_blocks.until}), 0)` },
    sql`from ${usage_blocks} where ${usage_blocks.property} = ${anyProperty}`,
  ),
)

/** The blocks that are found at once. Those of what is not rare follow each other, and are one range. */
const maxBlocks = 32

/**
 * Returns the newest blocks in a range that have all of these properties, from the newest; the first may be the one in which
 * the range ends. SQLite looks for the blocks of the first property.
 */
export function* findBlocks(properties: readonly number[], within: Range): Script<readonly Range[]> {
  return yield* execute(() => selectBlocks(properties, within))
}

const block = alias(usage_blocks, 'block')
const other = alias(usage_blocks, 'other')

function selectBlocks([first = anyProperty, ...others]: readonly number[], { from, until }: Range) {
  const ofBlock = (property: number, condition: SQL) =>
    sql`from ${usage_blocks} other where ${other.property} = ${property} and ${condition}`
  const conditions = [
    eq(block.property, first),
    gt(block.until, from),
    sql`${block.until} <= (select min(${other.until}) ${ofBlock(anyProperty, gte(other.until, until))})`,
    ...others.map((property) => sql`exists (select 1 ${ofBlock(property, eq(other.until, block.until))})`),
  ]
  return select(
    {
      from: sql<number>`coalesce((select max(${other.until}) ${ofBlock(anyProperty, lt(other.until, block.until))}), 0)`,
      until: block.until,
    },
    sql`from ${usage_blocks} block where ${and(...conditions)} order by ${block.until} desc limit ${maxBlocks}`,
  )
}
