import { and, eq, gt, gte, isNull, lt, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { timeOf } from '../../lib/id.ts'
import { nextTurn } from '../../lib/time.ts'
import { clampedTime } from '../common/store-limits.ts'
import type {
  FinishedRequest,
  RequestFilters,
  RequestHistory,
  RequestPage,
  RequestQuery,
} from '../ports/requests.ts'
import { api_keys, organizations } from '../schema/organizations.ts'
import { usage, usage_blocks } from '../schema/usage.ts'
import { nullable, type RowOf, select } from '../sql.ts'
import { execute, type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { errorSql, failedSql } from '../usage/slices.ts'
import { anyProperty, blockRows, propertyOf, type UsageProperty } from './usage-blocks.ts'

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

/** A part of the rows: those created from `from` on and before `until`. */
type Range = { readonly from: number; readonly until: number }

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
  const found: FinishedRequest[] = []
  let left = maxRows
  for (let before = cursor.time + 1; before > since;) {
    const { ranges, rows } = await read(() => nextRanges(filters, { from: since, until: before }))
    for (const range of ranges) {
      found.push(...(await read(() => rowsOf(filters, range, cursor, limit + 1 - found.length))))
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
  return `req_${time.toString(16).padStart(12, '0')}${'0'.repeat(20)}`
}

/** The rows that no block has are read in ranges of this many. */
const rangeRows = 8 * blockRows
/** The blocks that are found at once. Those of what is not rare follow each other, and are one range. */
const maxBlocks = 32

type Ranges = { readonly ranges: readonly Range[]; readonly rows: number }

/** The newest ranges in which such requests may be, from the newest to the oldest, and about how many rows they have. */
function* nextRanges(filters: RequestFilters, within: Range): Script<Ranges> {
  const properties = propertiesOf(filters)
  if (properties.length === 0) return { ranges: [within], rows: rangeRows }
  const [{ end = 0 } = {}] = yield* selectEnd()
  if (within.until > end) {
    const from = Math.max(within.from, end)
    const [first] = yield* selectFirst({ from, until: within.until, index: rangeRows - 1 })
    return { ranges: [{ from: first?.createdAt ?? from, until: within.until }], rows: rangeRows }
  }
  const blocks = yield* execute(() => selectBlocks(properties, within))
  return { ranges: joined(blocks, within), rows: blocks.length * blockRows }
}

/** The blocks as ranges within a range; those that follow each other are one. */
function joined(blocks: readonly Range[], within: Range): readonly Range[] {
  const ranges: Range[] = []
  for (const block of blocks) {
    const from = Math.max(block.from, within.from)
    const last = ranges.at(-1)
    if (last?.from === block.until) ranges[ranges.length - 1] = { from, until: last.until }
    else ranges.push({ from, until: Math.min(block.until, within.until) })
  }
  return ranges
}

/** From those that few requests have to those that many have: SQLite looks for the blocks of the first one. */
const filterNames = ['user', 'error', 'status', 'key', 'model', 'provider', 'organization'] as const

function propertiesOf(filters: RequestFilters): readonly number[] {
  return filterNames.flatMap((name: UsageProperty & keyof RequestFilters) => {
    const value = filters[name]
    return value === undefined ? [] : [propertyOf(name, value)]
  })
}

const selectEnd = statement(() =>
  select(
    { end: sql<number>`coalesce(max(${usage_blocks.until}), 0)` },
    sql`from ${usage_blocks} where ${usage_blocks.property} = ${anyProperty}`,
  ),
)

const selectFirst = statement((values: Parameters<Range & { index: number }>) =>
  select(
    { createdAt: usage.created_at },
    sql`from ${usage} where ${usage.created_at} >= ${values.from} and ${usage.created_at} < ${values.until}
      order by ${usage.created_at} desc, ${usage.id} desc limit 1 offset ${values.index}`,
  ),
)

const block = alias(usage_blocks, 'block')
const other = alias(usage_blocks, 'other')

/** The blocks that have all of these properties, from the newest; the first may be the one in which the range ends. */
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

const fields = {
  id: usage.id,
  createdAt: usage.created_at,
  organization: organizations.name,
  organizationId: usage.organization_id,
  key: usage.key_id,
  keyName: nullable(api_keys.name),
  user: usage.user,
  tags: usage.tags,
  trace: usage.trace,
  details: usage.details,
  api: usage.api,
  model: usage.model,
  provider: usage.provider,
  upstreamModel: usage.upstream_model,
  performanceMode: usage.performance_mode,
  stream: usage.stream,
  status: usage.status,
  error: usage.error,
  promptTokens: usage.prompt_tokens,
  cachedTokens: usage.cached_tokens,
  cacheWriteTokens: usage.cache_write_tokens,
  completionTokens: usage.completion_tokens,
  reasoningTokens: usage.reasoning_tokens,
  estimated: usage.estimated,
  // An exact number.
  cost: sql<string | null>`cast(${usage.cost} as text)`,
  latencyMs: usage.latency_ms,
  firstTokenMs: usage.first_token_ms,
}

/** In this order, because SQLite would begin with the organizations. */
const source = sql`from ${usage} cross join ${organizations} left join ${api_keys} on ${api_keys.public_id} = ${usage.key_id}
  where ${organizations.id} = ${usage.organization_id} and ${isNull(organizations.deletion)}`

function* rowsOf(
  filters: RequestFilters,
  { from, until }: Range,
  { time, id }: Cursor,
  limit: number,
): Script<readonly FinishedRequest[]> {
  const conditions = [
    gte(usage.created_at, from),
    lt(usage.created_at, until),
    // Only where it excludes something: PostgreSQL would read all rows from there to the range.
    time < until ? sql`(${usage.created_at}, ${usage.id}) < (${time}, ${id})` : undefined,
    ...conditionsOf(filters),
  ]
  const rows = yield* execute(() =>
    select(
      fields,
      sql`${source} and ${and(...conditions)} order by ${usage.created_at} desc, ${usage.id} desc limit ${limit}`,
    ),
  )
  return rows.map(toRequest)
}

const selectOne = statement((values: Parameters<{ id: string; createdAt: number }>) =>
  select(fields, sql`${source} and ${eq(usage.created_at, values.createdAt)} and ${eq(usage.id, values.id)}`),
)

function conditionsOf({ status, error, ...filters }: RequestFilters): readonly (SQL | undefined)[] {
  const { organization, key, model, provider, user } = filters
  return [
    organization === undefined ? undefined : eq(usage.organization_id, organization),
    key === undefined ? undefined : eq(usage.key_id, key),
    model === undefined ? undefined : eq(usage.model, model),
    provider === undefined ? undefined : eq(usage.provider, provider),
    user === undefined ? undefined : eq(usage.user, user),
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
