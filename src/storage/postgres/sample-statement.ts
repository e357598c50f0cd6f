import type { UsageDimension } from '../ports/usage.ts'
import { isNotEmpty, type TimeRange, type UsageReading } from '../usage/reports.ts'
import { widthsMs } from '../usage/slices.ts'
import { rows, shapeOf } from './slices-sql.ts'
import { partsOfTotals, within } from './slices-statement.ts'
import { Parameters, type Statement } from './writer/statement.ts'

/** Of which a report may have thousands of values. */
const manyValued = ['organization', 'project', 'key', 'user', 'session', 'tag', 'error'] as const

/**
 * Returns the statement that counts the `groups` in a sample of what a report of all organizations reads, which has at least
 * as many. The slices themselves can be read once all are added up, which takes seconds if there are many. Undefined if a
 * sample is not worth it.
 */
export function sampleStatement(
  reading: UsageReading,
  groupBy: readonly UsageDimension[],
  limit: number,
): Statement | undefined {
  const { ranges, organizations } = reading
  const hasMany = manyValued.some((name) => groupBy.includes(name))
  if (organizations !== undefined || !hasMany || limit > maxSampled) return undefined
  const periods = widest(ranges.totals)
  const ofTotals = periods ? piecesOf(periods, widthsMs[periods.width]) : []
  const ofRows = periods ? [] : ranges.rows.flatMap((range) => piecesOf(range, 1))
  const parameters = new Parameters()
  const rowsOfPiece = Math.ceil((sampleRows * limit) / (ofTotals.length + ofRows.length))
  const shape = shapeOf(reading, parameters, { by: new Set(groupBy), rows: rowsOfPiece })
  const parts = [
    ...ofTotals.flatMap((piece) => partsOfTotals(piece, reading, shape, parameters)),
    ...ofRows.map((piece) => rows('usage', within('usage.created_at', piece, parameters), shape)),
  ]
  const places = `SELECT DISTINCT * FROM (${parts.join('\nUNION ALL ')}) place LIMIT ${limit + 1}`
  return { text: `SELECT count(*)::int groups FROM (${places}) found`, values: parameters.values }
}

/** The rows of a sample, for each result that a report may have. */
const sampleRows = 3
/** They are spread over the time: rows of one day are more often of the same group. */
const samplePieces = 8
/** A sample for more results would take longer than it saves. */
const maxSampled = 10_000

function widest<Range extends TimeRange>(ranges: readonly Range[]): Range | undefined {
  return ranges.toSorted((one, other) => other.to - other.from - (one.to - one.from))[0]
}

/** Divides a range into pieces of whole periods. */
function piecesOf<Range extends TimeRange>(range: Range, periodMs: number): readonly Range[] {
  const { from, to } = range
  const pieceMs = Math.ceil((to - from) / periodMs / samplePieces) * periodMs
  return Array.from({ length: samplePieces }, (_, index) => ({
    ...range,
    from: from + index * pieceMs,
    to: Math.min(to, from + (index + 1) * pieceMs),
  })).filter(isNotEmpty)
}
