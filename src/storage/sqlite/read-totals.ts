import type { UsageReading } from '../usage/reports.ts'
import {
  isMixedSql,
  type ReportSlice,
  sumColumns,
  sumColumnsOf,
  totalsProjectSql,
  type TotalsWidth,
  type UsageSlice,
  widthsMs,
} from '../usage/slices.ts'
import { isNamed, type SumsLevel, sumsLevels, tableOf } from '../usage/sums.ts'
import type { Database } from './connection/database.ts'

/** The place of a row among the totals of an organization. */
type TotalsCursor = readonly [
  organization: string,
  width: TotalsWidth,
  start: number,
  key: string,
  api: string,
  model: string,
  provider: string,
  value: string,
]

/** The totals of some organizations in some periods. */
export type TotalsRange = {
  /** That of the sums; absent for totals. */
  readonly level?: SumsLevel | undefined
  readonly organizations: readonly string[]
  /** Whether these are all organizations from the first one to the last, in the order of their ids. */
  readonly areAll: boolean
  readonly width: TotalsWidth
  readonly from: number
  readonly to: number
  /** The users or sessions whose sums are read; absent: those of all. Each is here once. */
  readonly names?: readonly string[] | undefined
}

/** The organization of the row at this place of a range; undefined if there are fewer rows. */
export function organizationAt(
  { prepared }: Database,
  range: TotalsRange,
  index: number,
): string | undefined {
  const place = prepared<{ readonly organization: string }>(
    `SELECT t.organization_id organization ${fromRange(range)} LIMIT 1 OFFSET ?`,
  )
  return place.get(...valuesOf(range), index)?.organization
}

/** The sums of a range as a report needs them. */
export function readGrouped(
  { prepared }: Database,
  range: TotalsRange,
  shape: SliceShape,
): readonly ReportSlice[] {
  const { from, values } = rowsOfNames(range)
  return prepared<ReportSlice>(groupedSql(from, range, shape)).all(...values)
}

/** The totals of a range with requests of several projects, which sums by project do not include. */
export function readMixed({ prepared }: Database, range: TotalsRange): readonly MixedTotals[] {
  return prepared<MixedTotals>(
    `SELECT o.id organization, t.start, t.key_id key, t.api, t.model, t.provider ${fromRange(range)} AND ${isMixedSql}`,
  ).all(...valuesOf(range))
}

/** The totals of one organization in the order of their keys, in pages of so many rows. */
export function* totalsPages(
  { prepared }: Database,
  { organizations: [organization = ''], level, width, from, to }: TotalsRange,
  pageRows: number,
): Generator<readonly UsageSlice[], void> {
  // No period begins between this one and the one before.
  let after: TotalsCursor = [organization, width, from - 1, '', '', '', '', '']
  for (;;) {
    const slices = prepared<UsageSlice>(pageSql(level)).all(...after, to, pageRows)
    yield slices
    const last = slices.at(-1)
    if (last === undefined || slices.length < pageRows) return
    const { start, key, api, model, provider, value = '' } = last
    after = [organization, width, start, key, api, model, provider, value]
  }
}

/**
 * A join in this order: organizations have few totals in a range, which are next to each other. Those of all organizations
 * are read in the order of `o.id`, so that no sums by it are sorted.
 */
function fromRange({ areAll, level }: TotalsRange): string {
  const owners = areAll ? 'organizations o' : '(SELECT value id FROM json_each(?)) o'
  return `FROM ${owners} CROSS JOIN ${tableOf(level)} t
    WHERE ${isOfLevel(level)} AND ${areAll ? 'o.id BETWEEN ? AND ? AND o.deletion IS NULL AND' : ''} t.organization_id = o.id
      AND t.width = ? AND t.start >= ? AND t.start < ?`
}

function valuesOf({ organizations, areAll, width, from, to }: TotalsRange): (string | number)[] {
  const owners = areAll
    ? [organizations[0] ?? '', organizations.at(-1) ?? '']
    : [JSON.stringify(organizations)]
  return [...owners, width, from, to]
}

/**
 * The rows of a range, of its `names` only. Their places are known: each is looked for, however many other names there are. Only
 * all organizations together have more places than rows.
 */
function rowsOfNames(range: TotalsRange): { readonly from: string; readonly values: (string | number)[] } {
  const { level, names, organizations, areAll, width } = range
  const values = valuesOf(range)
  if (names === undefined) return { from: fromRange(range), values }
  const namesJson = JSON.stringify(names)
  if (areAll)
    return {
      from: `${fromRange(range)} AND t.value IN (SELECT value FROM json_each(?))`,
      values: [...values, namesJson],
    }
  const from = `FROM (SELECT value id FROM json_each(?)) o CROSS JOIN json_each(?) period CROSS JOIN json_each(?) name
    CROSS JOIN ${tableOf(level)} t WHERE ${isOfLevel(level)} AND t.organization_id = o.id AND t.width = ?
      AND t.start = period.value AND t.key_id = '' AND t.api = '' AND t.model = '' AND t.provider = '' AND t.value = name.value`
  return { from, values: [JSON.stringify(organizations), JSON.stringify(startsOf(range)), namesJson, width] }
}

/** The starts of the periods of a range. */
function startsOf({ width, from, to }: TotalsRange): readonly number[] {
  return Array.from({ length: (to - from) / widthsMs[width] }, (_, index) => from + index * widthsMs[width])
}

function isOfLevel(level: SumsLevel | undefined): string {
  return level && isNamed(level) ? `t.level = '${level}'` : 'true'
}

function pageSql(level: SumsLevel | undefined): string {
  const hasValue = level !== undefined && isNamed(level)
  const place = ['start', 'key_id', 'api', 'model', 'provider', ...(hasValue ? ['value'] : [])].join()
  return `SELECT organization_id organization, key_id key, api, model, provider, start,
      CASE WHEN in_project > 0 THEN project_id END project, in_project inProject,
      ${sumColumns.map(([column, field]) => `${column} ${field}`).join()}, cast(cost AS text) cost,
      latencies, first_tokens firstTokens${hasValue ? ', value' : ''}
    FROM ${tableOf(level)} t WHERE ${isOfLevel(level)} AND organization_id = ?1 AND width = ?2
      AND (${place}) > (?3, ?4, ?5, ?6, ?7${hasValue ? ', ?8' : ''}) AND start < ?9
    ORDER BY ${place} LIMIT ?10`
}

/** Whose requests are of several projects. */
export type MixedTotals = Pick<UsageSlice, 'organization' | 'start' | 'key' | 'api' | 'model' | 'provider'>

/** How the totals of a range are summed up. */
type SliceShape = Pick<UsageReading, 'by' | 'widthMs' | 'sums'>

const totalsProperties = {
  organization: 'o.id',
  key: 't.key_id',
  api: 't.api',
  model: 't.model',
  provider: 't.provider',
  project: totalsProjectSql,
}

function groupedSql(from: string, range: TotalsRange, { by, widthMs, sums }: SliceShape): string {
  const columns = Object.entries(totalsProperties).filter(([name]) => by.has(name))
  if (range.level !== undefined && isNamed(range.level)) columns.push(['value', 't.value'])
  // The organization first: see `fromRange`.
  if (widthMs !== undefined) columns.splice(by.has('organization') ? 1 : 0, 0, ['start', 't.start'])
  const isGrouped = !areGroups(range, { by, widthMs })
  const sum = (column: string) => (isGrouped ? `sum(t.${column})` : `t.${column}`)
  const joined = (column: string) => (isGrouped ? `group_concat(t.${column}, '')` : `t.${column}`)
  const selected = [
    ...columns.map(([name, column]) => `${column} ${name}`),
    ...sumColumnsOf(sums).map(([column, field]) => `${sum(column)} ${field}`),
    ...(sums === 'usage' ? [] : [`cast(${sum('cost')} AS text) cost`]),
    ...(sums === 'costs'
      ? []
      : [`${joined('latencies')} latencies`, `${joined('first_tokens')} firstTokens`]),
  ]
  const rows = `SELECT ${selected.join()} ${from} ${by.has('project') ? `AND NOT ${isMixedSql}` : ''}`
  if (!isGrouped) return rows
  const groups = columns.map(([, column]) => column)
  return `${rows} ${groups.length > 0 ? `GROUP BY ${groups.join()}` : ''} HAVING count(*) > 0`
}

/** Whether each row of a range is a group of its own, so that the database need not add up any. */
function areGroups(
  { level, width, from, to }: TotalsRange,
  { by, widthMs }: Omit<SliceShape, 'sums'>,
): boolean {
  const isOnePeriod = widthMs !== undefined || to - from <= widthsMs[width]
  return level !== undefined && sumsLevels[level].by.isSubsetOf(by) && isOnePeriod
}
