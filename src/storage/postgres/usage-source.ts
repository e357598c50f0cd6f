import type { UsageSource } from '../usage/reports.ts'
import type { Database } from './connection/database.ts'
import { ownersOf } from '../scripts/usage-owners.ts'
import { runScript } from './run-script.ts'
import { sampleStatement } from './sample-statement.ts'
import { slicesStatement } from './slices-statement.ts'
import type { CountField, ReportSlice } from '../usage/slices.ts'
import type { AddTimes } from '../usage/times.ts'

/** The usage in the PostgreSQL database. */
export function createUsageSource({ query, readPages }: Pick<Database, 'query' | 'readPages'>): UsageSource {
  return {
    addTimes: addArrays,
    ownersOf: (filters) => runScript(query, ownersOf(filters)),
    async readSlices(reading, onSlices, { step, timeoutMs, timeoutError }) {
      await readPages<SliceRow>(slicesStatement(reading), timeoutMs, timeoutError, async (rows) => {
        for (let index = 0; index < rows.length; index += stepSlices)
          await step(() => onSlices(rows.slice(index, index + stepSlices).map(toSlice)))
      })
    },
    async hasMoreGroups(reading, groupBy, limit, { timeoutMs, timeoutError }) {
      const statement = sampleStatement(reading, groupBy, limit)
      if (statement === undefined) return false
      let isMore = false
      await readPages<{ readonly groups: number }>(statement, timeoutMs, timeoutError, async ([found]) => {
        isMore = found !== undefined && found.groups > limit
      })
      return isMore
    },
  }
}

/** The slices that are added in one turn of the event loop. */
const stepSlices = 500

/**
 * A slice as it is read. Each column of a row takes time, so that its sums are one text: the counts in the order of
 * `sumColumns`, the cost, the latencies and the times to the first token, divided by `|`.
 */
export type SliceRow = Omit<ReportSlice, CountField | 'cost' | 'latencies' | 'firstTokens'> & {
  readonly sums: string
}

/** Reads the sums of a row. */
export function toSlice(row: SliceRow): ReportSlice {
  const [, cost, latencies, firstTokens] = row.sums.split('|')
  const counts = readCounts(row.sums)
  // Field by field: there may be thousands of slices, and an object that grows is slow.
  return {
    start: row.start,
    organization: row.organization,
    project: row.project,
    key: row.key,
    api: row.api,
    model: row.model,
    provider: row.provider,
    user: row.user,
    session: row.session,
    tag: row.tag,
    error: row.error,
    requests: counts[0],
    failed: counts[1],
    clientErrors: counts[2],
    serverErrors: counts[3],
    promptTokens: counts[4],
    completionTokens: counts[5],
    cachedTokens: counts[6],
    cacheWriteTokens: counts[7],
    reasoningTokens: counts[8],
    priced: counts[9],
    unpriced: counts[10],
    cost,
    latencies,
    firstTokens,
  }
}

/** Reads the counts that a text begins with. The parser of JSON takes six times as long for so few numbers. */
function readCounts(text: string): readonly number[] {
  const counts: number[] = []
  for (let at = 0; isDigit(text, at); at++) {
    let count = 0
    for (; isDigit(text, at); at++) count = count * 10 + digitAt(text, at)
    counts.push(count)
  }
  return counts
}

/**
 * Adds the times of a slice, which has by turns an array of times and one of their numbers of requests; without a number, a
 * time counts once. Most arrays are so short that parsing each of them would take longer than all else of a report.
 */
const addArrays: AddTimes = (to, stored) => {
  for (let at = 1; at < stored.length;) {
    const end = stored.indexOf('}', at)
    const next = stored.indexOf('}', end + 1) + 2
    for (let countAt = end + 2; at < end; at++, countAt++) {
      let time = 0
      for (; isDigit(stored, at); at++) time = time * 10 + digitAt(stored, at)
      let count = 0
      for (; countAt < next && isDigit(stored, countAt); countAt++)
        count = count * 10 + digitAt(stored, countAt)
      to.add(time, count || 1)
    }
    at = next
  }
}

function isDigit(text: string, index: number): boolean {
  const digit = digitAt(text, index)
  return digit >= 0 && digit <= 9
}

function digitAt(text: string, index: number): number {
  return text.charCodeAt(index) - zero
}

const zero = 48
