import { isNotEmpty, type UsageReading } from '../usage/reports.ts'
import type { ReportSlice } from '../usage/slices.ts'
import { isNamedRange } from './named-sums.ts'
import type { Database } from './connection/database.ts'
import { organizationAt, type TotalsRange } from './read-totals.ts'
import { type MixedPeriod, sumsOf, totalsBatches } from './totals-batches.ts'
import { nextPeriod } from './usage-parts.ts'
import { untilOf } from './usage-totals.ts'

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
export function* readInPieces(
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
export function readAtOnce(
  database: Database,
  parts: readonly TotalsRange[],
  reading: UsageReading,
): Unfinished {
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
