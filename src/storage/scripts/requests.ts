import { and, eq, getTableColumns, gte, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { camelCase } from '../../lib/text.ts'
import { startOfIds, timeOf } from '../../lib/id.ts'
import { nextTurn } from '../../lib/time.ts'
import { clampedTime } from '../common/store-limits.ts'
import type {
  FinishedRequest,
  RequestFilters,
  RequestHistory,
  RequestPage,
  RequestQuery,
} from '../ports/requests.ts'
import { api_keys, organizations, projects } from '../schema/organizations.ts'
import { usage } from '../schema/usage.ts'
import { nullable, type RowOf, select } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { errorSql, failedSql } from '../usage/slices.ts'
import { blockRows, endOfBlocks, findBlocks, propertyOf, type Range } from './usage-blocks.ts'

/** Finds finished requests. `maxRows`: what a page reads at most, but for a block. */
export function createRequestHistory({ read }: ScriptRunner, maxRows = 50_000): RequestHistory {
  return {
    page: (query) => readPage(query, read, maxRows),
    find: (id) =>
      read(function* () {
        const [row] = yield* selectOne({ id, createdAt: clampedTime(timeOf(id)) })
        return row && toRequest(row)
      }),
  }
}

/** The place in the list after which the next rows follow. */
type Cursor = { readonly time: number; readonly id: string }

/** Reads range by range; other requests wait for one of them only. */
async function readPage(
  query: RequestQuery,
  read: ScriptRunner['read'],
  maxRows: number,
): Promise<RequestPage> {
  const { filters, since = 0, until = Number.MAX_SAFE_INTEGER, after, limit } = query
  const start = after === undefined ? undefined : { time: clampedTime(timeOf(after)), id: after }
  const cursor = start && start.time < until ? start : { time: until, id: '' }
  const rowsOf = prepareRows(filters)
  const found: FinishedRequest[] = []
  let left = maxRows
  for (let before = cursor.time + 1; before > since;) {
    const { ranges, rows } = await read(() => nextRanges(filters, { from: since, until: before }))
    for (const range of ranges) {
      found.push(...(await read(() => rowsOf(range, cursor, limit + 1 - found.length))))
      if (found.length > limit) return { items: found.slice(0, limit), next: found[limit - 1]?.id }
      before = range.from
      await nextTurn()
    }
    if (ranges.length === 0) break
    left -= rows
    if (left <= 0 && before > since) return { items: found, next: idBefore(before) }
  }
  return { items: found, next: undefined }
}

/** An id that sorts before those of the requests that were created from this time on, as a cursor. */
function idBefore(time: number): string {
  return startOfIds('req_', time) + '0'.repeat(20)
}

/** About how many rows are read at once. */
const rangeRows = 8 * blockRows
type Ranges = { readonly ranges: readonly Range[]; readonly rows: number }

/** The newest ranges in which such requests may be, from the newest to the oldest, and about how many rows they have. */
function* nextRanges(filters: RequestFilters, within: Range): Script<Ranges> {
  const properties = propertiesOf(filters)
  const end = yield* endOfBlocks()
  if (within.until > end) {
    const from = Math.max(within.from, end)
    const [first] = yield* selectFirst({ from, until: within.until, index: rangeRows - 1 })
    return { ranges: [{ from: first?.createdAt ?? from, until: within.until }], rows: rangeRows }
  }
  const blocks = yield* findBlocks(properties, within)
  return { ranges: joined(blocks, within), rows: blocks.length * blockRows }
}

/** The blocks as ranges within a range; those that follow each other are one of up to `rangeRows`. */
function joined(blocks: readonly Range[], within: Range): readonly Range[] {
  const ranges: Range[] = []
  let rows = 0
  for (const block of blocks) {
    const from = Math.max(block.from, within.from)
    const last = ranges.at(-1)
    if (last?.from === block.until && rows < rangeRows) {
      ranges[ranges.length - 1] = { from, until: last.until }
      rows += blockRows
    } else {
      ranges.push({ from, until: Math.min(block.until, within.until) })
      rows = blockRows
    }
  }
  return ranges
}

/** From those that few requests have to those that many have: SQLite looks for the blocks of the first one. */
const filterNames = [
  'session',
  'user',
  'error',
  'status',
  'key',
  'project',
  'model',
  'provider',
  'organization',
] as const

function propertiesOf(filters: RequestFilters): readonly number[] {
  return filterNames.flatMap((name) => {
    const value = filters[name]
    return value === undefined ? [] : [propertyOf(name, value)]
  })
}

const selectFirst = statement((values: Parameters<Range & { index: number }>) =>
  select(
    { createdAt: usage.created_at },
    sql`from ${usage} where ${usage.created_at} >= ${values.from} and ${usage.created_at} < ${values.until}
      order by ${usage.created_at} desc, ${usage.id} desc limit 1 offset ${values.index}`,
  ),
)

const { key_id, project_id, ...columns } = getTableColumns(usage)

const fields = {
  ...camelCase(columns),
  organization: organizations.name,
  project: project_id,
  projectName: nullable(projects.name),
  key: key_id,
  keyName: nullable(api_keys.name),
  // An exact number.
  cost: sql<string | null>`cast(${usage.cost} as text)`,
}

/** In this order, because SQLite would begin with the organizations. */
const source = sql`from ${usage} cross join ${organizations} left join ${api_keys} on ${api_keys.public_id} = ${usage.key_id}
  left join ${projects} on ${projects.id} = ${usage.project_id}
  where ${organizations.id} = ${usage.organization_id} and ${isNull(organizations.deletion)}`

/** Returns the rows of a range that follow a place, of which a page may read many. */
type RowsOf = (range: Range, after: Cursor, limit: number) => Script<readonly FinishedRequest[]>

/** Compiles the statement once for all ranges of a page. */
function prepareRows(filters: RequestFilters): RowsOf {
  const selectRows = statement((values: Parameters<Range & Cursor & { limit: number }>) => {
    const before = sql`(${usage.created_at}, ${usage.id}) < (${values.time}, ${values.id})`
    // PostgreSQL does not see from `before` how few rows these are.
    const within = and(gte(usage.created_at, values.from), lt(usage.created_at, values.until))
    const condition = and(within, before, ...conditionsOf(filters))
    return select(
      fields,
      sql`${source} and ${condition} order by ${usage.created_at} desc, ${usage.id} desc limit ${values.limit}`,
    )
  })
  return function* rowsOf({ from, until }, after, limit) {
    const before = after.time < until ? after : { time: until, id: '' }
    return (yield* selectRows({ from, until, limit, ...before })).map(toRequest)
  }
}

const selectOne = statement((values: Parameters<{ id: string; createdAt: number }>) =>
  select(fields, sql`${source} and ${eq(usage.created_at, values.createdAt)} and ${eq(usage.id, values.id)}`),
)

const filterColumns = {
  organization: usage.organization_id,
  project: usage.project_id,
  key: usage.key_id,
  model: usage.model,
  provider: usage.provider,
  user: usage.user,
  session: usage.session,
}

function conditionsOf({ status, error, ...filters }: RequestFilters): readonly (SQL | undefined)[] {
  const equal = Object.entries(filters).map(([name, value]) =>
    value === undefined ? undefined : eq(filterColumns[name as keyof typeof filters], value),
  )
  return [
    ...equal,
    status === undefined ? undefined : statusCondition(status),
    error === undefined ? undefined : sql`${sql.raw(errorSql)} = ${error}`,
  ]
}

function statusCondition(status: string): SQL {
  switch (status) {
    case 'failed':
      return sql.raw(failedSql)
    case '4xx':
      return sql`${usage.status} between 400 and 498`
    case '5xx':
      return sql`${usage.status} >= 500`
    default:
      return eq(usage.status, Number(status))
  }
}

function toRequest({ cost, stream, estimated, ...row }: RowOf<typeof fields>): FinishedRequest {
  return {
    ...row,
    stream: Boolean(stream),
    estimated: Boolean(estimated),
    cost: cost === null ? null : BigInt(cost),
  }
}
