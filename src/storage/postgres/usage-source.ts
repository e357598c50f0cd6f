import type { TimeRange, TotalsPeriods, UsageReading, UsageSource } from '../usage/reports.ts'
import { isMixedSql, totalsKeySql, type TotalsWidth, widthsMs } from '../usage/slices.ts'
import { isNamed, type SumsLevel, summedFromSql, sumsFor } from '../usage/sums.ts'
import { addArrays } from './add-arrays.ts'
import type { Database } from './connection/database.ts'
import { type SliceRow, sliceReader } from './slice-rows.ts'
import { namedSums, rows, type Shape, shapeOf, totals } from './slices-sql.ts'
import { isLateSql } from './usage-subtraction.ts'
import { Parameters, type Statement } from './writer/statement.ts'

/** The usage in the PostgreSQL database. */
export function createUsageSource({ readPages }: Pick<Database, 'readPages'>): UsageSource {
  return {
    addTimes: addArrays,
    async readSlices(reading, onSlices, { step, timeoutMs, timeoutError }) {
      const toSlice = sliceReader(reading)
      await readPages<SliceRow>(slicesStatement(reading), timeoutMs, timeoutError, async (rows) => {
        for (let index = 0; index < rows.length; index += stepSlices)
          await step(() => onSlices(rows.slice(index, index + stepSlices).map(toSlice)))
      })
    },
  }
}

/** The slices that are added in one turn of the event loop. */
const stepSlices = 200

/**
 * Returns the statement that reads the slices (`SliceRow`) of requests: the totals, and the rows that are not part of
 * them. It is one statement, so that it sees the totals and the time that they cover at the same moment.
 */
export function slicesStatement(reading: UsageReading): Statement {
  const { ranges, by } = reading
  const parameters = new Parameters()
  const within = (time: string, { from, to }: TimeRange) =>
    `${time} >= ${parameters.add(from)}::bigint AND ${time} < ${parameters.add(to)}::bigint`
  // With a lower bound that it does not know, the server expects few rows and uses the index: that is right.
  const sinceUntil = (time: string, { from, to }: TimeRange) =>
    `${time} >= greatest(${parameters.add(from)}::bigint, ${until}) AND ${time} < ${parameters.add(to)}::bigint`
  const shape = shapeOf(reading, parameters)
  const parts = [
    ...ranges.totals.flatMap((range) => {
      const level = sumsFor(reading, range.width)
      if (level !== undefined) return sumsAndOlder(level, range, shape, parameters)
      const condition = `t.width = '${range.width}' AND ${within('t.start', range)}`
      if (!by.has('project')) return [totals('usage_totals', condition, shape)]
      return [
        totals('usage_totals', `${condition} AND NOT ${isMixedSql}`, shape),
        rows(mixedRows(range.width, condition), 'true', shape),
      ]
    }),
    rows('usage', sinceUntil('usage.created_at', ranges.covered), shape),
    rows(
      'usage_late l JOIN usage USING (created_at, id)',
      `${within('l.created_at', ranges.covered)} AND l.created_at < ${until}`,
      shape,
    ),
    ...ranges.rows.map((range) => rows('usage', within('usage.created_at', range), shape)),
  ]
  return { text: parts.join('\nUNION ALL '), values: parameters.values }
}

const until = '(SELECT until FROM usage_rollup)'

/** The sums of a range from the time on at which there are some of this level, and before it the totals or the rows. */
function sumsAndOlder(
  level: SumsLevel,
  { width, ...range }: TotalsPeriods,
  shape: Shape,
  parameters: Parameters,
): readonly string[] {
  const [from, to] = [range.from, range.to].map((time) => `${parameters.add(time)}::bigint`)
  const summedFrom = summedFromSql(level)
  const ofSums = (start: string) =>
    `t.width = '${width}' AND t.start >= greatest(${from}, ${start}) AND t.start < ${to}`
  // The last condition keeps the server from reading anything if there are only sums, whatever it expects.
  const before = (time: string, end: string) =>
    `${time} >= ${from} AND ${time} < least(${to}, ${end}) AND ${from} < ${end}`
  if (!isNamed(level))
    return [
      totals('usage_totals', `t.width = '${width}' AND ${before('t.start', summedFrom)}`, shape),
      totals(
        'usage_sums',
        `${ofSums(summedFrom)} AND t.organization_id ${level === 'all' ? '=' : '<>'} ''`,
        shape,
      ),
    ]
  const firstPeriod = `(${summedFrom} + ${widthsMs[width] - 1}) / ${widthsMs[width]} * ${widthsMs[width]}`
  const older = `${before('usage.created_at', firstPeriod)} AND usage.created_at < ${until} AND NOT ${isLateSql}`
  return [rows('usage', older, shape), namedSums(level, ofSums(firstPeriod), shape)]
}

/**
 * The rows of `usage` that are part of totals with requests of several projects; those that are late are not yet. The server
 * cannot know how few periods have any: `OFFSET 0` makes it look for them first, and then read the rows of each.
 */
function mixedRows(width: TotalsWidth, condition: string): string {
  const same = Object.entries(totalsKeySql).map(([name, sql]) => `t.${name} = ${sql}`)
  const end = `least(period.start + ${widthsMs[width]}, ${until})`
  return `(SELECT DISTINCT t.start FROM usage_totals t WHERE ${condition} AND ${isMixedSql} OFFSET 0) period
    CROSS JOIN LATERAL (SELECT * FROM usage
      WHERE usage.created_at >= period.start AND usage.created_at < ${end}
        AND EXISTS (SELECT 1 FROM usage_totals t
          WHERE t.width = '${width}' AND t.start = period.start AND ${same.join(' AND ')} AND ${isMixedSql})
        AND NOT ${isLateSql}
      OFFSET 0) usage`
}
