import { sql } from 'drizzle-orm'
import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { bucketWidths } from '../ports/usage.ts'
import { usage_rollup } from '../schema/usage.ts'
import type { SubtractDeleted } from '../scripts/usage-expiry.ts'
import { addLateRow } from '../scripts/usage-blocks.ts'
import { select } from '../sql.ts'
import { statement } from '../statement.ts'
import type { Histogram } from '../usage/times.ts'
import {
  changedInProjectSql,
  sumColumns,
  totalsLagMs,
  type TotalsWidth,
  type UsageSlice,
} from '../usage/slices.ts'
import type { Database } from './connection/database.ts'
import { read } from './sqlite-errors.ts'
import { ownerExistsSql, prepareSlices } from './usage-slices.ts'
import type { Writer } from './writer.ts'

/**
 * Parts of transactions that keep `usage_totals` consistent with `usage`. All rows that were created before
 * `usage_rollup.until` are part of the totals, and no others; a deleted organization has no totals.
 */
export type TotalsUpkeep = {
  /** Adds a row that was just inserted, if the totals already cover the time of its creation. */
  inserted(request: Pick<RequestMetadata, 'id' | 'createdAt'>): void
  readonly subtractDeleted: SubtractDeleted
}

export function prepareTotalsUpkeep(database: Database): TotalsUpkeep {
  const untilOf = prepareUntil(database)
  const slices = prepareSlices(database)
  const apply = prepareApplySlices(database)
  const slicesOf = (condition: string, values: readonly (string | number)[]) =>
    slices({ condition: `${condition} AND ${ownerExistsSql}`, values, widthMs: totalsWidthMs })
  return {
    inserted({ id, createdAt }) {
      if (createdAt >= untilOf()) return
      apply(slicesOf('created_at = ?2 AND usage.id = ?3', [createdAt, id]), 1)
      database.run(addLateRow(createdAt, id))
    },
    *subtractDeleted(lastCreatedAt, lastId) {
      const [rollup] = yield* selectUntil()
      const condition = '(created_at, usage.id) <= (?2, ?3) AND created_at < ?4'
      apply(slicesOf(condition, [lastCreatedAt, lastId, rollup?.until ?? 0]), -1)
    },
  }
}

const selectUntil = statement(() => select({ until: usage_rollup.until }, sql`from ${usage_rollup}`))

/** The rows that one step adds to the totals: it delays requests no longer than a few milliseconds. */
const stepRows = 500

/** Adds usage rows to the totals in steps; a step resolves with 0 if no more are due. */
export function createRollup(database: Database, writer: Writer, now: () => number = Date.now) {
  const untilOf = prepareUntil(database)
  const slices = prepareSlices(database)
  const apply = prepareApplySlices(database)
  const setUntil = database.sqlite.prepare<unknown, [number]>('UPDATE usage_rollup SET until = ?')
  const due = database.sqlite.prepare<{ readonly created_at: number }, [number, number, number]>(
    'SELECT created_at FROM usage WHERE created_at >= ? AND created_at < ? ORDER BY created_at, id LIMIT 1 OFFSET ?',
  )

  function addNow(limit: number): number {
    const until = untilOf()
    const last = due.get(until, limit, stepRows - 1)
    const end = last === null ? limit : last.created_at + 1
    const condition = `created_at >= ?2 AND created_at < ?3 AND ${ownerExistsSql}`
    const found = slices({ condition, values: [until, end], widthMs: totalsWidthMs })
    apply(found, 1)
    setUntil.run(end)
    // Rows of deleted organizations are skipped, and may be followed by others.
    return last === null ? found.length : stepRows
  }

  return async function rollUp(): Promise<number> {
    const limit = now() - totalsLagMs
    if ((await read(() => due.get(untilOf(), limit, 0))) === null) return 0
    // After a power cut, the totals and the time that they cover are both those of before.
    return writer.write(
      () => addNow(limit),
      () => false,
    )
  }
}

/** Returns a function that reads the time before which all rows are part of the totals. */
export function prepareUntil({ sqlite }: Database): () => number {
  const until = sqlite.prepare<{ readonly until: number }, []>('SELECT until FROM usage_rollup')
  return () => until.get()?.until ?? 0
}

/** The period for which the rows to add to the totals are sliced. */
export const totalsWidthMs = bucketWidths['1h']

/** Part of a transaction: adds slices by the hour to `usage_totals`, or subtracts them if `sign` is -1. */
export type ApplySlices = (slices: readonly UsageSlice[], sign: 1 | -1) => void

export function prepareApplySlices({ sqlite }: Database): ApplySlices {
  const times = sqlite.prepare<Times, Key>(
    `SELECT latencies, first_tokens firstTokens FROM usage_totals WHERE ${keyCondition}`,
  )
  const upsert = sqlite.prepare<unknown, (string | number | null)[]>(upsertSql)
  const removeEmpty = sqlite.prepare<unknown, Key>(
    `DELETE FROM usage_totals WHERE ${keyCondition} AND requests <= 0`,
  )

  function apply(width: TotalsWidth, start: number, slice: UsageSlice, sign: 1 | -1): void {
    const key: Key = [slice.organization, width, start, slice.key, slice.api, slice.model, slice.provider]
    const stored = times.get(...key)
    const sums = sumColumns.map(([, field]) => sign * slice[field])
    const cost = sign < 0 ? `-${slice.cost}` : slice.cost
    const latencies = changedTimes(stored?.latencies, slice.latencies, sign)
    const firstTokens = changedTimes(stored?.firstTokens, slice.firstTokens, sign)
    upsert.run(...key, slice.project, slice.inProject, ...sums, cost, latencies, firstTokens)
    if (sign < 0) removeEmpty.run(...key)
  }

  return (slices, sign) => {
    for (const slice of slices) {
      apply('hour', slice.start, slice, sign)
      apply('day', Math.floor(slice.start / bucketWidths['1d']) * bucketWidths['1d'], slice, sign)
    }
  }
}

type Times = Pick<UsageSlice, 'latencies' | 'firstTokens'>

function changedTimes(stored: string | undefined, change: string, sign: 1 | -1): string {
  const histogram: Histogram = new Map()
  if (stored !== undefined) addTimes(histogram, stored)
  addTimes(histogram, change, sign)
  return timesJson(histogram)
}

type Key = [
  organization: string,
  width: string,
  start: number,
  key: string,
  api: string,
  model: string,
  provider: string,
]

const keyColumns = ['organization_id', 'width', 'start', 'key_id', 'api', 'model', 'provider']
const keyCondition = keyColumns.map((column) => `${column} = ?`).join(' AND ')

const sumNames = [...sumColumns.map(([column]) => column), 'cost']
const columns = [...keyColumns, 'project_id', 'in_project', ...sumNames, 'latencies', 'first_tokens']
const changedInProject = (sign: '+' | '-') => changedInProjectSql('usage_totals', 'excluded', sign)

/** The cost is text, because a number would be cast to a floating point number; the column makes it an integer. */
const upsertSql = `INSERT INTO usage_totals (${columns.join()}) VALUES (${columns.map(() => '?').join()})
  ON CONFLICT DO UPDATE SET
  in_project = CASE WHEN excluded.requests < 0 THEN ${changedInProject('-')} ELSE ${changedInProject('+')} END,
  ${sumNames.map((name) => `${name} = ${name} + excluded.${name}`).join()},
  latencies = excluded.latencies, first_tokens = excluded.first_tokens`

/**
 * Adds times and their numbers of requests, which alternate in the JSON, one array or several one after the other; subtracts
 * them if `sign` is -1. Most arrays are so short that parsing each of them would take longer than all else of a report.
 */
export function addTimes(histogram: Histogram, json: string, sign: 1 | -1 = 1): void {
  const none = -1
  let [time, value] = [none, none]
  for (let index = 0; index < json.length; index++) {
    const digit = json.charCodeAt(index) - zero
    if (digit >= 0 && digit <= 9) value = Math.max(value, 0) * 10 + digit
    else if (value !== none) {
      if (time === none) time = value
      else {
        addTime(histogram, time, sign * value)
        time = none
      }
      value = none
    }
  }
}

const zero = 48

function addTime(histogram: Histogram, time: number, change: number): void {
  const count = (histogram.get(time) ?? 0) + change
  if (count > 0) histogram.set(time, count)
  else histogram.delete(time)
}

/** Returns an array that `addTimes` reads. */
export function timesJson(histogram: Histogram): string {
  return JSON.stringify([...histogram].toSorted(([one], [other]) => one - other).flat())
}
