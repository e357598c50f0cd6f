import { Histogram, type TimeCounts } from '../usage/times.ts'
import {
  changedInProjectSql,
  startOfPeriod,
  sumColumns,
  type TotalsTable,
  type TotalsWidth,
  type UsageSlice,
} from '../usage/slices.ts'
import type { Database } from './connection/database.ts'

/** The table with the totals of slices, and the periods and the level that these have in it. */
type AppliedTo = {
  readonly table: TotalsTable
  readonly widths: readonly TotalsWidth[]
  readonly level?: string | undefined
}

/** Part of a transaction: adds slices to the periods that they are part of, or subtracts them if `sign` is -1. */
export function applySlices(
  { prepared }: Database,
  slices: readonly UsageSlice[],
  sign: 1 | -1,
  { table, widths, level }: AppliedTo,
): void {
  const { findTimes, upsert, removeEmpty } = statements[table]
  for (const slice of slices)
    for (const width of widths) {
      const { organization, api, model, provider, value = '', project = null, inProject = 0 } = slice
      const start = startOfPeriod(slice.start, width)
      const key = [organization, width, start, slice.key, api, model, provider]
      if (level !== undefined) key.push(level, value)
      const stored = prepared<Times>(findTimes).get(...key)
      const sums = sumColumns.map(([, field]) => sign * slice[field])
      const cost = sign < 0 ? `-${slice.cost}` : slice.cost
      const latencies = changedTimes(stored?.latencies, slice.latencies, sign)
      const firstTokens = changedTimes(stored?.firstTokens, slice.firstTokens, sign)
      prepared(upsert).run(...key, project, inProject, ...sums, cost, latencies, firstTokens)
      if (sign < 0) prepared(removeEmpty).run(...key)
    }
}

type Times = Pick<UsageSlice, 'latencies' | 'firstTokens'>

function changedTimes(stored: string | undefined, change: string, sign: 1 | -1): string {
  const histogram = new Histogram()
  addTimes(histogram, stored ?? '')
  addTimes(histogram, change, sign)
  return JSON.stringify(histogram.entries().flat())
}

const totalsKey = ['organization_id', 'width', 'start', 'key_id', 'api', 'model', 'provider']
const sumNames = [...sumColumns.map(([column]) => column), 'cost']

const statements = {
  usage_totals: statementsOf('usage_totals', totalsKey),
  usage_sums: statementsOf('usage_sums', totalsKey),
  usage_names: statementsOf('usage_names', [...totalsKey, 'level', 'value']),
}

function statementsOf(table: TotalsTable, keyColumns: readonly string[]) {
  const isRow = keyColumns.map((column) => `${column} = ?`).join(' AND ')
  return {
    findTimes: `SELECT latencies, first_tokens firstTokens FROM ${table} WHERE ${isRow}`,
    upsert: upsertSql(table, keyColumns),
    removeEmpty: `DELETE FROM ${table} WHERE ${isRow} AND requests <= 0`,
  }
}

/** The cost is text, because a number would be cast to a floating point number; the column makes it an integer. */
function upsertSql(table: TotalsTable, keyColumns: readonly string[]): string {
  const columns = [...keyColumns, 'project_id', 'in_project', ...sumNames, 'latencies', 'first_tokens']
  const changedInProject = (sign: '+' | '-') => changedInProjectSql(table, 'excluded', sign)
  return `INSERT INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})
    ON CONFLICT DO UPDATE SET
    in_project = CASE WHEN excluded.requests < 0 THEN ${changedInProject('-')} ELSE ${changedInProject('+')} END,
    ${sumNames.map((name) => `${name} = ${name} + excluded.${name}`).join()},
    latencies = excluded.latencies, first_tokens = excluded.first_tokens`
}

/**
 * Adds times and their numbers of requests, which alternate in the JSON, one array or several one after the other; subtracts
 * them if `sign` is -1. Most arrays are so short that parsing each of them would take longer than all else of a report.
 */
export function addTimes(to: TimeCounts, json: string, sign: 1 | -1 = 1): void {
  const none = -1
  let [time, value] = [none, none]
  for (let index = 0; index < json.length; index++) {
    const digit = json.charCodeAt(index) - zero
    if (digit >= 0 && digit <= 9) value = Math.max(value, 0) * 10 + digit
    else if (value !== none) {
      if (time === none) time = value
      else {
        to.add(time, sign * value)
        time = none
      }
      value = none
    }
  }
}

const zero = 48
