import type { CountField, ReportSlice } from '../usage/slices.ts'
import { digitAt, isDigit } from './add-arrays.ts'

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
