import { ApiError } from '../../lib/errors/errors.ts'
import { isNotEmpty, type TimeRange, type UsageReading, type UsageSource } from '../usage/reports.ts'
import { type ReportSlice, rowPropertiesSql, totalsKeySql } from '../usage/slices.ts'
import { ownersOf } from '../scripts/usage-owners.ts'
import type { Database } from './connection/database.ts'
import { read, toOutage } from './sqlite-errors.ts'
import { type MixedTotals, organizationAt, type TotalsRange } from './read-totals.ts'
import { reportSlicesOf } from './usage-slices.ts'
import { addTimes } from './apply-slices.ts'
import { atOnce, isNamedRange, type MixedPeriod, sumsOf, totalsBatches } from './totals-batches.ts'
import { nextPeriod, partsOf, wholeBefore } from './usage-parts.ts'
import { timeOfRow, untilOf } from './usage-totals.ts'

/** The usage in the SQLite database; `flush` writes the rows of requests that have just ended. */
export function createUsageSource(database: Database, flush?: () => Promise<unknown>): UsageSource {
  return {
    addTimes,
    ownersOf: (filters) => read(() => database.run(ownersOf(filters))),
    async readSlices(reading, onSlices, { step }) {
      await flush?.()
      const batches = readUsage(database, reading)
      const addNext = () => {
        const { value, done } = batches.next()
        if (done !== true) onSlices(value)
        return done === true
      }
      try {
        while (!(await step(addNext)));
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 503) throw toOutage(error)
        const { from, to } = reading.ranges.covered
        const until = untilOf(database)
        const isBehind = from < to && until < Math.min(to, Date.now() - behindMs)
        throw isBehind ? totalsBehind(until) : error
      }
    },
  }
}

/** So old are rows that are not part of the totals only after an upgrade. */
const behindMs = 60 * 60_000

/** 503: an upgrade has stored requests without totals, which are added in the background. */
function totalsBehind(until: number): ApiError {
  const reached =
    until === 0 ? 'have just begun' : `have reached ${new Date(until).toISOString().slice(0, 16)}Z`
  return new ApiError(
    503,
    `After the upgrade, the totals of earlier requests are being computed, and ${reached}. Until then, request a shorter or an earlier period, or try again later.`,
    {
      type: 'service_unavailable_error',
      code: 'service_unavailable',
      headers: { 'retry-after': '60' },
    },
  )
}

/** The rows of one batch. */
const batchRows = 4000

/**
 * Reads the slices of requests, in batches that each take a few milliseconds: the totals first, and the time that they cover
 * together with the last of them; then the rows after that time. So each request counts once, although rows are added to the
 * totals between two batches.
 */
export function* readUsage(
  database: Database,
  reading: UsageReading,
): Generator<readonly ReportSlice[], undefined> {
  const { ranges } = reading
  const until = untilOf(database)
  const { totals: parts, rows: unsummed } = partsOf(database, reading)
  const mixed: MixedPeriod[] = [...unsummed]
  for (const part of parts) {
    const complete = { ...part, to: wholeBefore(until, part) }
    if (isNotEmpty(complete)) yield* totalsBatches(database, complete, reading, mixed)
  }
  const rest = parts.map((part) => ({ ...part, from: wholeBefore(until, part) }))
  const last =
    (yield* readInPieces(database, rest, reading)) ??
    atOnce(database, () => readAtOnce(database, rest, reading))
  yield* last.batches
  for (const { from, to, totals } of [...mixed, ...last.mixed])
    yield* rowsOf(database, reading, { from, to: Math.min(to, last.until) }, totals)
  const { from, to } = ranges.covered
  for (const range of [{ from: Math.max(from, last.until), to }, ...ranges.rows])
    yield* rowsOf(database, reading, range)
  return undefined
}

function* rowsOf(
  database: Database,
  reading: UsageReading,
  { from, to }: TimeRange,
  of?: readonly MixedTotals[],
) {
  const { widthMs, by, sums } = reading
  const filters = filtersOf(reading, of)
  const condition = ['created_at >= ?2 AND created_at < ?3', ...filters.conditions].join(' AND ')
  for (let start = from, end = from; start < to; start = end) {
    const last = timeOfRow(database, { from: start, to }, batchRows - 1)
    end = last === undefined ? to : last + 1
    yield reportSlicesOf(database, { condition, values: [start, end, ...filters.lists], widthMs, by }, sums)
  }
}

/** The fields of `MixedTotals`, in the order of `totalsKeySql`. */
const keyValues = ['organization', 'key', 'api', 'model', 'provider']
  .map((name) => `value ->> '${name}'`)
  .join()

/** The row of a deleted organization stays. There are few of them, which are faster to compare with than those that exist. */
const ownerRemainsSql =
  'usage.organization_id NOT IN (SELECT id FROM organizations WHERE deletion IS NOT NULL)'

/** The conditions of a report on rows, and the lists that they name from `?4` on. */
function filtersOf(
  { organizations, projects, keys, models, users, sessions, tags, by }: UsageReading,
  of: readonly MixedTotals[] | undefined,
) {
  const lists: string[] = []
  const parameter = (list: unknown) => `json_each(?${lists.push(JSON.stringify(list)) + 3})`
  const isIn = (column: string, list: readonly string[] | undefined): readonly string[] =>
    list ? [`${column} IN (SELECT value FROM ${parameter(list)})`] : []
  const conditions = [
    ...(of ? [`(${Object.values(totalsKeySql).join()}) IN (SELECT ${keyValues} FROM ${parameter(of)})`] : []),
    ...(organizations ? isIn('usage.organization_id', organizations) : [ownerRemainsSql]),
    ...isIn(rowPropertiesSql.project, projects),
    ...isIn(totalsKeySql.key_id, keys),
    ...isIn(totalsKeySql.model, models),
    ...isIn(rowPropertiesSql.user, users),
    ...isIn(rowPropertiesSql.session, sessions),
    ...(by.has('tag')
      ? isIn(rowPropertiesSql.tag, tags)
      : isIn('value', tags).map((found) => `EXISTS (SELECT 1 FROM json_each(usage.tags) WHERE ${found})`)),
  ]
  return { conditions, lists }
}

/** The totals of periods to which rows are added, and the time before which all rows are part of them. */
type Unfinished = {
  readonly batches: readonly (readonly ReportSlice[])[]
  readonly until: number
  /** The periods that the batches do not include. */
  readonly mixed: readonly MixedPeriod[]
}

/** The most that are held until all are read, or read at once: some 20 milliseconds. */
const maxSlices = 10_000

/**
 * Reads such periods in batches, each of which passes on nothing: they are right together if no rows were added meanwhile.
 * Returns undefined otherwise, and if there are too many.
 */
function* readInPieces(
  database: Database,
  parts: readonly TotalsRange[],
  reading: UsageReading,
): Generator<readonly ReportSlice[], Unfinished | undefined> {
  const until = untilOf(database)
  const batches: (readonly ReportSlice[])[] = []
  const mixed: MixedPeriod[] = []
  let slices = 0
  for (const range of withTotals(parts, until))
    for (const found of totalsBatches(database, range, reading, mixed)) {
      batches.push(found)
      slices += found.length
      if (slices > maxSlices) return undefined
      yield []
    }
  return untilOf(database) === until ? { batches, until, mixed } : undefined
}

/** Reads such periods as a part of a transaction, but for those in which clients have named too much: their rows are read. */
function readAtOnce(database: Database, parts: readonly TotalsRange[], reading: UsageReading): Unfinished {
  const until = untilOf(database)
  const mixed: MixedPeriod[] = []
  const batches = withTotals(parts, until).flatMap((range) => {
    const { names, organizations } = range
    const isTooMuch = names
      ? organizations.length * names.length > maxSlices
      : isNamedRange(range) && organizationAt(database, range, maxSlices) !== undefined
    if (!isTooMuch) return [sumsOf(database, names ? { ...range, areAll: false } : range, reading, mixed)]
    mixed.push(range)
    return []
  })
  return { batches, until, mixed }
}

/** The parts as far as there can be totals of rows before this time. */
function withTotals(parts: readonly TotalsRange[], until: number): readonly TotalsRange[] {
  return parts
    .map((part) => ({ ...part, to: Math.min(part.to, nextPeriod(until, part.width)) }))
    .filter(isNotEmpty)
}
