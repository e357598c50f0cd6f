import { sumColumns, type TotalsWidth } from '../../common/usage-totals.ts'
import type { Histogram } from '../../common/usage-histogram.ts'
import type { UsageSlice } from '../../common/usage-slice.ts'
import type { Database } from '../connection/database.ts'
import { bucketWidths } from '../../ports/usage-buckets.ts'
import { addTimes, timesJson } from './histogram.ts'

/** The period for which the rows to add to the totals are sliced. */
export const totalsWidthMs = bucketWidths['1h']

/** Part of a transaction: adds slices by the hour to `usage_totals`, or subtracts them if `sign` is -1. */
export type ApplySlices = (slices: readonly UsageSlice[], sign: 1 | -1) => void

export function prepareApplySlices({ sqlite }: Database): ApplySlices {
  const times = sqlite.prepare<Times, Key>(
    `SELECT latencies, first_tokens firstTokens FROM usage_totals WHERE ${keyCondition}`,
  )
  const upsert = sqlite.prepare<unknown, (string | number)[]>(upsertSql)
  const removeEmpty = sqlite.prepare<unknown, Key>(
    `DELETE FROM usage_totals WHERE ${keyCondition} AND requests <= 0`,
  )

  function apply(width: TotalsWidth, start: number, slice: UsageSlice, sign: 1 | -1): void {
    const key: Key = [slice.organization, width, start, slice.key, slice.api, slice.model, slice.provider]
    const stored = times.get(...key)
    const sums = sumColumns.map(([, field]) => sign * slice[field])
    const cost = sign < 0 ? `-${slice.cost}` : slice.cost
    const latencies = changedTimes(stored?.latencies, slice.latencies, sign)
    upsert.run(...key, ...sums, cost, latencies, changedTimes(stored?.firstTokens, slice.firstTokens, sign))
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
const columns = [...keyColumns, ...sumNames, 'latencies', 'first_tokens']

/** The cost is text, because a number would be cast to a floating point number; the column makes it an integer. */
const upsertSql = `INSERT INTO usage_totals (${columns.join()}) VALUES (${columns.map(() => '?').join()})
  ON CONFLICT DO UPDATE SET ${sumNames.map((name) => `${name} = ${name} + excluded.${name}`).join()},
  latencies = excluded.latencies, first_tokens = excluded.first_tokens`
