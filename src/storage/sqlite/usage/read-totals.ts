import { sumColumns, type TotalsWidth } from '../../common/usage-totals.ts'
import type { UsageSlice } from '../../common/usage-slice.ts'
import type { Database } from '../connection/database.ts'

/** The place of a row among the totals of an organization. */
export type TotalsCursor = readonly [
  organization: string,
  width: TotalsWidth,
  start: number,
  key: string,
  api: string,
  model: string,
  provider: string,
]

/** Reads of `usage_totals`. */
export function prepareReadTotals({ sqlite }: Database) {
  const columns = `organization_id organization, key_id key, api, model, provider, start, NULL label,
    ${sumColumns.map(([column, field]) => `${column} ${field}`).join()}, cast(cost AS text) cost,
    latencies, first_tokens firstTokens`
  const page = sqlite.prepare<UsageSlice, (string | number)[]>(
    `SELECT ${columns} FROM usage_totals WHERE organization_id = ? AND width = ?
      AND (start, key_id, api, model, provider) > (?, ?, ?, ?, ?) AND start < ?
      ORDER BY start, key_id, api, model, provider LIMIT ?`,
  )
  const range = sqlite.prepare<UsageSlice, [string, string, number, number]>(
    `SELECT ${columns} FROM usage_totals
      WHERE organization_id IN (SELECT value FROM json_each(?)) AND width = ? AND start >= ? AND start < ?`,
  )
  return {
    /** The place before the first row of a period. */
    start: (organization: string, width: TotalsWidth, from: number): TotalsCursor =>
      // No row has an empty API.
      [organization, width, from, '', '', '', ''],
    /** Up to `limit` rows after a place and before a time; `next` is the place of the last one if more may follow. */
    read(after: TotalsCursor, before: number, limit: number): TotalsPage {
      const slices = page.all(...after, before, limit)
      const last = slices.length < limit ? undefined : slices.at(-1)
      if (last === undefined) return { slices, next: undefined }
      const { start, key, api, model, provider } = last
      return { slices, next: [after[0], after[1], start, key, api, model, provider] }
    },
    /** All rows of these organizations in a period. */
    readFrom: (organizations: readonly string[], width: TotalsWidth, from: number, to: number) =>
      range.all(JSON.stringify(organizations), width, from, to),
  }
}

type TotalsPage = { readonly slices: readonly UsageSlice[]; readonly next: TotalsCursor | undefined }
