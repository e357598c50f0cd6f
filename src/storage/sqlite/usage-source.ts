import { bucketWidths } from '../ports/usage.ts'
import {
  isNotEmpty,
  type TimeRange,
  type UsageRanges,
  type UsageReading,
  type UsageSource,
} from '../usage/reports.ts'
import { type ReportSlice, rowPropertiesSql } from '../usage/slices.ts'
import type { Database } from './connection/database.ts'
import { toOutage } from './sqlite-errors.ts'
import {
  ownerExistsSql,
  prepareReadTotals,
  prepareSlices,
  type SliceShape,
  type TotalsRange,
} from './usage-slices.ts'
import { addTimes, prepareUntil } from './usage-totals.ts'

/** The usage in the SQLite database; `flush` writes the rows of requests that have just ended. */
export function createUsageSource(database: Database, flush?: () => Promise<unknown>): UsageSource {
  const readUsage = prepareReadUsage(database)
  return {
    addTimes,
    async readSlices(reading, onSlices, { step }) {
      await flush?.()
      const batches = readUsage(reading)
      const addNext = () => {
        const { value, done } = batches.next()
        if (done !== true) onSlices(value)
        return done === true
      }
      try {
        while (!(await step(addNext)));
      } catch (error) {
        throw toOutage(error)
      }
    },
  }
}

/** Reads the slices of requests, in batches that each take a few milliseconds. */
export type ReadUsage = (reading: UsageReading) => Generator<readonly ReportSlice[], undefined>

/** The organizations and the totals of one batch, and the rows of one. */
const batchOrganizations = 200
const batchTotals = 1000
const batchRows = 4000

/**
 * Reads the totals first, and the time that they cover together with the last of them; then the rows after that time. So
 * each request counts once, although rows are added to the totals between two batches.
 */
export function prepareReadUsage(database: Database): ReadUsage {
  const readers = prepareReaders(database)
  return function* readUsage(reading) {
    const { ranges } = reading
    const until = readers.until()
    const owners = {
      organizations: reading.organizations ?? readers.owners(),
      areAll: !reading.organizations,
    }
    const parts = ranges.totals.map((range) => splitAt(until, range))
    for (const { complete, width } of parts)
      if (isNotEmpty(complete))
        yield* totalsBatches(readers.totals, { ...owners, width, ...complete }, reading)
    const last = readers.atOnce(() => ({
      slices: parts
        .filter(({ rest }) => isNotEmpty(rest))
        .map(({ width, rest }) => readers.totals.readGrouped({ ...owners, width, ...rest }, reading)),
      until: readers.until(),
    }))
    yield* last.slices
    const { from, to } = ranges.covered
    for (const range of [{ from: Math.max(from, last.until), to }, ...ranges.rows])
      yield* readers.rows(reading, range)
    return undefined
  }
}

/** Splits a range into the periods to which no more rows are added, and the others. */
function splitAt(until: number, { width, from, to }: UsageRanges['totals'][number]) {
  const widthMs = bucketWidths[width === 'hour' ? '1h' : '1d']
  const end = Math.max(from, Math.min(to, Math.floor(until / widthMs) * widthMs))
  return { width, complete: { from, to: end }, rest: { from: end, to } }
}

function prepareReaders(database: Database) {
  const { sqlite } = database
  const totals = prepareReadTotals(database)
  const slices = prepareSlices(database)
  const owners = sqlite.prepare<{ readonly id: string }, []>(
    'SELECT id FROM organizations WHERE deletion IS NULL ORDER BY id',
  )
  const row = sqlite.prepare<{ readonly created_at: number }, [number, number, number]>(
    'SELECT created_at FROM usage WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id LIMIT 1 OFFSET ?',
  )

  /** The exclusive end of the next batch of a range. */
  function batchEnd({ from, to }: TimeRange): number {
    const last = row.get(from, to, batchRows - 1)
    return last === null ? to : last.created_at + 1
  }

  return {
    until: prepareUntil(database),
    totals,
    owners: () => owners.all().map(({ id }) => id),
    /** In one transaction: other processes may change the totals, too. */
    atOnce: <Value>(work: () => Value): Value => sqlite.transaction(work).deferred(),
    *rows(reading: UsageReading, { from, to }: TimeRange) {
      const { widthMs, by, sums } = reading
      const filters = filtersOf(reading)
      const condition = ['created_at >= ?2 AND created_at < ?3', ...filters.conditions].join(' AND ')
      for (let start = from, end = from; start < to; start = end) {
        end = batchEnd({ from: start, to })
        yield slices({ condition, values: [start, end, ...filters.lists], widthMs, by, sums })
      }
    },
  }
}

/** The conditions of a report on rows, and the lists that they name from `?4` on. */
function filtersOf({ organizations, projects, users, sessions, tags, by }: UsageReading) {
  const lists: string[] = []
  const isIn = (column: string, list: readonly string[] | undefined): readonly string[] =>
    list ? [`${column} IN (SELECT value FROM json_each(?${lists.push(JSON.stringify(list)) + 3}))`] : []
  const conditions = [
    ...(organizations ? isIn('usage.organization_id', organizations) : [ownerExistsSql]),
    ...isIn(rowPropertiesSql.project, projects),
    ...isIn(rowPropertiesSql.user, users),
    ...isIn(rowPropertiesSql.session, sessions),
    ...(by.has('tag')
      ? isIn(rowPropertiesSql.tag, tags)
      : isIn('value', tags).map((found) => `EXISTS (SELECT 1 FROM json_each(usage.tags) WHERE ${found})`)),
  ]
  return { conditions, lists }
}

type TotalsReader = ReturnType<typeof prepareReadTotals>

/** Reads organizations together, but for those that have more totals than a batch. */
function* totalsBatches(totals: TotalsReader, range: TotalsRange, shape: SliceShape) {
  for (let rest = range.organizations; rest.length > 0;) {
    const next = rest.slice(0, batchOrganizations)
    const large = totals.organizationAt({ ...range, organizations: next }, batchTotals)
    const end = large === undefined ? next.length : next.indexOf(large)
    if (end > 0) yield totals.readGrouped({ ...range, organizations: next.slice(0, end) }, shape)
    if (large !== undefined && end === 0) yield* totalsPages(totals, large, range)
    rest = rest.slice(Math.max(1, end))
  }
}

function* totalsPages(totals: TotalsReader, organization: string, { width, from, to }: TotalsRange) {
  let page = totals.read(totals.start(organization, width, from), to, batchTotals)
  for (; page.next !== undefined; page = totals.read(page.next, to, batchTotals)) yield page.slices
  yield page.slices
}
