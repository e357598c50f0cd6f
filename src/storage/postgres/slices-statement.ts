import type { TimeRange, TotalsPeriods, UsageReading } from '../usage/reports.ts'
import { isMixedSql, totalsKeySql, type TotalsWidth, widthsMs } from '../usage/slices.ts'
import {
  dividersOf,
  isNamed,
  isOfAll,
  type NamedLevel,
  namesOf,
  type SumsLevel,
  summedFromSql,
  sumsFor,
  sumsLevels,
} from '../usage/sums.ts'
import { namedSums, rows, type Shape, shapeOf, totals } from './slices-sql.ts'
import { isLateSql } from './usage-totals.ts'
import { Parameters, type Statement } from './writer/statement.ts'

/**
 * Returns the statement that reads the slices (`SliceRow`) of requests: the totals, and the rows that are not part of
 * them. It is one statement, so that it sees the totals and the time that they cover at the same moment.
 */
export function slicesStatement(reading: UsageReading): Statement {
  const { ranges } = reading
  const parameters = new Parameters()
  const shape = shapeOf(reading, parameters)
  // With a lower bound that it does not know, the server expects few rows and uses the index: that is right.
  const sinceUntil = (time: string, { from, to }: TimeRange) =>
    `${time} >= greatest(${parameters.add(from)}::bigint, ${until}) AND ${time} < ${parameters.add(to)}::bigint`
  const parts = [
    ...ranges.totals.flatMap((range) => partsOfTotals(range, reading, shape, parameters)),
    rows('usage', sinceUntil('usage.created_at', ranges.covered), shape),
    rows(
      'usage_late l JOIN usage USING (created_at, id)',
      `${within('l.created_at', ranges.covered, parameters)} AND l.created_at < ${until}`,
      shape,
    ),
    ...ranges.rows.map((range) => rows('usage', within('usage.created_at', range, parameters), shape)),
  ]
  return { text: parts.join('\nUNION ALL '), values: parameters.values }
}

/** The totals, the sums or the rows of a range of which there are totals. */
export function partsOfTotals(
  range: TotalsPeriods,
  reading: UsageReading,
  shape: Shape,
  parameters: Parameters,
): readonly string[] {
  const level = sumsFor(reading, range.width)
  if (level !== undefined && isNamed(level)) return namedAndRows(level, range, reading, shape, parameters)
  if (level !== undefined) return sumsAndTotals(level, range, shape, parameters)
  const condition = `t.width = '${range.width}' AND ${within('t.start', range, parameters)}`
  if (!reading.by.has('project')) return [totals('usage_totals', condition, shape)]
  const ofOne = totals('usage_totals', `${condition} AND NOT ${isMixedSql}`, shape)
  if (shape.sample) return [ofOne]
  // The filters of the shape come too late for what the server looks for first.
  const owners = reading.organizations && parameters.add(reading.organizations)
  const isOwn = (table: string) =>
    owners === undefined ? 'true' : `${table}.organization_id = ANY(${owners})`
  return [ofOne, rows(mixedRows(range.width, condition, isOwn), 'true', shape)]
}

/** SQL that is true for a time in a range. */
export function within(time: string, { from, to }: TimeRange, parameters: Parameters): string {
  return `${time} >= ${parameters.add(from)}::bigint AND ${time} < ${parameters.add(to)}::bigint`
}

const until = '(SELECT until FROM usage_rollup)'

/** The sums of a range from the time on at which there are some of this level, and before it the totals. */
function sumsAndTotals(
  level: 'all' | 'each',
  { width, ...range }: TotalsPeriods,
  shape: Shape,
  parameters: Parameters,
): readonly string[] {
  const [from, to] = [range.from, range.to].map((time) => `${parameters.add(time)}::bigint`)
  const start = summedFromSql(level)
  const between = (first: string, end: string) =>
    `t.width = '${width}' AND t.start >= ${first} AND t.start < ${end}`
  return [
    // The last condition keeps the server from reading anything if there are only sums, whatever it expects.
    totals('usage_totals', `${between(`${from}`, `least(${to}, ${start})`)} AND ${from} < ${start}`, shape),
    totals(
      'usage_sums',
      `${between(`greatest(${from}, ${start})`, `${to}`)} AND t.organization_id ${isOfAll(level) ? '=' : '<>'} ''`,
      { ...shape, isOfSlices: areSlices(level, { width, ...range }, shape) },
    ),
  ]
}

/**
 * The sums of what clients have named from the time on at which there are some of this level, before it those of each
 * organization, and the rows of before that.
 */
function namedAndRows(
  level: NamedLevel,
  { width, ...range }: TotalsPeriods,
  reading: UsageReading,
  shape: Shape,
  parameters: Parameters,
): readonly string[] {
  const [from, to] = [range.from, range.to].map((time) => `${parameters.add(time)}::bigint`)
  let end = `${to}`
  const sums = [...new Set([level, sumsLevels[level].named])].map((level) => {
    const ms = widthsMs[width]
    const start = `(${summedFromSql(level)} + ${ms - 1}) / ${ms} * ${ms}`
    const first = `greatest(${from}, ${start})`
    const ofLevel = `t.level = '${level}' AND t.width = '${width}'`
    // With bounds that it knows, the server expects many rows, and takes a sample by the index instead of sorting all.
    const between = shape.sample
      ? `t.start >= ${from} AND t.start < ${to} AND ${from} >= ${start} AND ${to} <= ${end}`
      : `t.start >= ${first} AND t.start < ${end}`
    const owners = isOfAll(level) ? [''] : reading.organizations
    const names = owners && namesOf(level, reading)
    const source = names
      ? placesOf(
          parameters.add(names),
          `generate_series(${first}, least(${end}, ${until}) - 1, ${ms}::bigint)`,
          `${ofLevel} AND t.organization_id = ANY(${parameters.add(owners)})`,
        )
      : `usage_names t WHERE ${ofLevel} AND ${between}`
    const isOfSlices = areSlices(level, { width, ...range }, shape)
    const part = namedSums(level, `${source} AND ${from} < ${end}`, { ...shape, isOfSlices })
    end = `least(${end}, ${start})`
    return part
  })
  const older = `usage.created_at >= ${from} AND usage.created_at < ${end} AND ${from} < ${end}
    AND usage.created_at < ${until} AND NOT ${isLateSql}`
  return [rows('usage', older, shape), ...sums]
}

/** Whether each sum of a level is a slice of its own: slices are as long, and divided by the same properties. */
function areSlices(level: SumsLevel, { width, from, to }: TotalsPeriods, { by, widthMs }: Shape): boolean {
  const isAsLong = widthMs === widthsMs[width] || to - from <= widthsMs[width]
  return isAsLong && dividersOf(level).isSubsetOf(by)
}

/** The sums of these names in these periods: the server looks for each in the key, however many others there are. */
function placesOf(names: string, periods: string, condition: string): string {
  return `unnest(${names}::text[]) name CROSS JOIN ${periods} period
    CROSS JOIN LATERAL (SELECT * FROM usage_names t WHERE ${condition} AND t.start = period AND t.api = '' AND t.model = ''
      AND t.provider = '' AND md5(t.value) = md5(name) OFFSET 0) t WHERE true`
}

/**
 * The rows of `usage` that are part of totals with requests of several projects; those that are late are not yet. The server
 * cannot know how few periods have any: `OFFSET 0` makes it look for them first, and then read the rows of each.
 */
function mixedRows(width: TotalsWidth, condition: string, isOwn: (table: string) => string): string {
  const same = Object.entries(totalsKeySql).map(([name, sql]) => `t.${name} = ${sql}`)
  const end = `least(period.start + ${widthsMs[width]}, ${until})`
  return `(SELECT DISTINCT t.start FROM usage_totals t WHERE ${condition} AND ${isOwn('t')} AND ${isMixedSql} OFFSET 0) period
    CROSS JOIN LATERAL (SELECT * FROM usage
      WHERE usage.created_at >= period.start AND usage.created_at < ${end} AND ${isOwn('usage')}
        AND EXISTS (SELECT 1 FROM usage_totals t
          WHERE t.width = '${width}' AND t.start = period.start AND ${same.join(' AND ')} AND ${isMixedSql})
        AND NOT ${isLateSql}
      OFFSET 0) usage`
}
