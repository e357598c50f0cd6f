import type { Statement } from 'bun:sqlite'
import { sumColumns, type TotalsWidth } from '../../common/usage-totals.ts'
import type { UsageSlice } from '../../common/usage-slice.ts'
import type { Database } from '../connection/database.ts'
import { joinedTimesSql } from './slice.ts'

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

/** The totals of some organizations in some periods. */
export type TotalsRange = {
  readonly organizations: readonly string[]
  readonly width: TotalsWidth
  readonly from: number
  readonly to: number
}

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
  const place = sqlite.prepare<{ readonly organization: string }, (string | number)[]>(
    `SELECT t.organization_id organization ${fromRange} LIMIT 1 OFFSET ?`,
  )
  const grouped = new Map<string, Statement<UsageSlice, (string | number)[]>>()
  return {
    /** The organization of the row at this place of a range; undefined if there are fewer rows. */
    organizationAt: (range: TotalsRange, index: number): string | undefined =>
      place.get(...valuesOf(range), index)?.organization,
    /** The sums of a range by period and by these properties; the others are empty. */
    readGrouped(range: TotalsRange, by: ReadonlySet<string>): readonly UsageSlice[] {
      const text = groupedSql(by)
      const statement = grouped.get(text) ?? sqlite.prepare<UsageSlice, (string | number)[]>(text)
      grouped.set(text, statement)
      return statement.all(...valuesOf(range))
    },
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
  }
}

/** A join in this order: organizations have few totals in a range, which are next to each other. */
const fromRange = `FROM json_each(?) o CROSS JOIN usage_totals t
  WHERE t.organization_id = o.value AND t.width = ? AND t.start >= ? AND t.start < ?`

function valuesOf({ organizations, width, from, to }: TotalsRange): (string | number)[] {
  return [JSON.stringify(organizations), width, from, to]
}

const properties = {
  organization: 't.organization_id',
  key: 't.key_id',
  api: 't.api',
  model: 't.model',
  provider: 't.provider',
}

function groupedSql(by: ReadonlySet<string>): string {
  const values = Object.entries(properties).map(([name, column]) => `${by.has(name) ? column : "''"} ${name}`)
  return `SELECT t.start, ${values.join()}, NULL label,
    ${sumColumns.map(([column, field]) => `sum(t.${column}) ${field}`).join()}, cast(sum(t.cost) AS text) cost,
    ${joinedTimesSql('latencies')} latencies, ${joinedTimesSql('first_tokens')} firstTokens
    ${fromRange} GROUP BY 1, 2, 3, 4, 5, 6`
}

type TotalsPage = { readonly slices: readonly UsageSlice[]; readonly next: TotalsCursor | undefined }
