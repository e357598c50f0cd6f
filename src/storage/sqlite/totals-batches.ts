import type { TimeRange, UsageReading } from '../usage/reports.ts'
import { type ReportSlice, type TotalsWidth, type UsageSlice, widthsMs } from '../usage/slices.ts'
import type { Database } from './connection/database.ts'
import {
  type MixedTotals,
  organizationAt,
  readGrouped,
  readMixed,
  totalsPages,
  type TotalsRange,
} from './read-totals.ts'
import { isNamed, type Named, type NamedLevel, sumsLevels } from '../usage/sums.ts'

/** A period of which rows are read instead of totals: all, or those of some totals. See `MixedTotals`. */
export type MixedPeriod = TimeRange & { readonly totals?: readonly MixedTotals[] | undefined }

function mixedPeriods(width: TotalsWidth, found: readonly MixedTotals[]): readonly MixedPeriod[] {
  const periods = Map.groupBy(found, ({ start }) => start)
  return [...periods].map(([from, totals]) => ({ from, to: from + widthsMs[width], totals }))
}

/** The sums of a range; adds the periods to `mixed` that these do not include. */
export function sumsOf(
  database: Database,
  range: TotalsRange,
  reading: UsageReading,
  mixed: MixedPeriod[],
): readonly ReportSlice[] {
  if (isNamedRange(range))
    return readGrouped(database, range, reading).flatMap(selectNamed(range.level, reading))
  if (!reading.by.has('project')) return readGrouped(database, range, reading)
  return atOnce(database, () => {
    mixed.push(...mixedPeriods(range.width, readMixed(database, range)))
    return readGrouped(database, range, reading)
  })
}

/** Reads in one transaction: other processes may change the totals, too. */
export function atOnce<Value>({ sqlite }: Database, work: () => Value): Value {
  return sqlite.transaction(work).deferred()
}

/** The totals of one batch, and those of which a batch looks for a few. */
const batchTotals = 1000
const searchedTotals = 10_000
/** The organizations of one batch. */
const batchOrganizations = 200
/** The places of one batch: some 5 milliseconds. */
const batchPlaces = 4000

type Batches = Generator<readonly ReportSlice[], void>

/** Reads organizations together, but for those that have more totals than a batch. */
export function* totalsBatches(
  database: Database,
  range: TotalsRange,
  reading: UsageReading,
  mixed: MixedPeriod[],
): Batches {
  if (!range.areAll && range.names) {
    for (const places of placesBatches(range, range.names)) yield sumsOf(database, places, reading, mixed)
    return
  }
  const ofSums = sumsBatch(range)
  const maxTotals = range.names ? searchedTotals : batchTotals
  for (let rest = range.organizations; rest.length > 0;) {
    const next = rest.slice(0, ofSums ?? batchOrganizations)
    const large = ofSums ? undefined : organizationAt(database, { ...range, organizations: next }, maxTotals)
    const end = large === undefined ? next.length : next.indexOf(large)
    if (end > 0) yield sumsOf(database, { ...range, organizations: next.slice(0, end) }, reading, mixed)
    if (large !== undefined && end === 0)
      yield* batchesOfOne(database, { ...range, organizations: [large], areAll: false }, reading, mixed)
    rest = rest.slice(Math.max(1, end))
  }
}

/** Reads the totals of an organization that has many. */
function* batchesOfOne(
  database: Database,
  range: TotalsRange,
  reading: UsageReading,
  mixed: MixedPeriod[],
): Batches {
  if (range.names) return yield* totalsBatches(database, range, reading, mixed)
  for (const slices of totalsPages(database, range, batchTotals)) {
    if (isNamedRange(range)) yield slices.flatMap(selectNamed(range.level, reading))
    else if (!reading.by.has('project')) yield slices
    else {
      mixed.push(...mixedPeriods(range.width, slices.filter(isMixed)))
      yield slices.filter((slice) => !isMixed(slice))
    }
  }
}

/** The organizations of a batch, if each has one sum in a period; undefined if their totals must be counted. */
function sumsBatch({ level, areAll, width, from, to }: TotalsRange): number | undefined {
  if (level !== 'each' || !areAll) return undefined
  return Math.max(1, Math.floor((batchTotals * widthsMs[width]) / (to - from)))
}

function isMixed({ inProject, requests }: UsageSlice): boolean {
  return inProject !== 0 && inProject !== requests
}

/** Divides a range with names into batches of places where a sum may be. */
function* placesBatches(range: TotalsRange, names: readonly string[]): Generator<TotalsRange> {
  const { organizations, width, from, to } = range
  const maxOwners = Math.max(1, Math.floor(batchPlaces / names.length))
  const owners = Math.min(organizations.length, batchOrganizations, maxOwners)
  const lengthMs = Math.max(1, Math.floor(maxOwners / owners)) * widthsMs[width]
  for (let index = 0; index < organizations.length; index += owners)
    for (let start = from; start < to; start += lengthMs)
      yield {
        ...range,
        organizations: organizations.slice(index, index + owners),
        from: start,
        to: Math.min(to, start + lengthMs),
      }
}

/** A range of the sums of users, sessions or tags. */
type NamedRange = TotalsRange & { readonly level: NamedLevel }

export function isNamedRange(range: TotalsRange): range is NamedRange {
  return range.level !== undefined && isNamed(range.level)
}

/** Returns a function that makes the slices of a report of one with a `value`: none if it is filtered out, one for each tag. */
function selectNamed(
  level: NamedLevel,
  { by, users, sessions, tags }: UsageReading,
): (slice: ReportSlice) => readonly ReportSlice[] {
  const { named } = sumsLevels[level]
  const filter = { user: users, session: sessions, tag: tags }[named]
  const wanted = filter && new Set(filter)
  const isWanted = (name: string) => wanted?.has(name) ?? true
  return (slice) => {
    const names = namesIn(named, slice.value ?? '')
    if (!by.has(named)) return names.some(isWanted) ? [slice] : []
    const found = names.filter(isWanted)
    if (names.length === 0 && wanted === undefined) return [slice]
    return found.map((name) => ({ ...slice, [named]: name }))
  }
}

/** The users, sessions or tags of a `value`. A tag that a request repeats counts once. */
function namesIn(named: Named, value: string): readonly string[] {
  if (value === '') return []
  return named === 'tag' ? [...new Set<string>(JSON.parse(value))] : [value]
}
