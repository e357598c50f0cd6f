import type { Query } from '../api/client.ts'
import { addressOf, type Period, type RangeName, readPeriod, spanOf } from './usage/period.ts'

/** The filters of a list by their names in the API and in the address, with those for people. */
export type FilterNames<Name extends string> = Readonly<Record<Name, string>>

/** What a list shows, as in the address. */
export type FilteredPeriod<Name extends string> = {
  readonly period: Period
  readonly filters: Readonly<Partial<Record<Name, string>>>
}

/** Reads the query of the address: a range that ends now, unless it names another period. */
export function readFilters<Name extends string>(
  query: URLSearchParams,
  names: FilterNames<Name>,
  defaultRange: RangeName,
): FilteredPeriod<Name> {
  const filters = (Object.keys(names) as Name[]).flatMap((name) => {
    const value = query.get(name)
    return value ? [[name, value] as const] : []
  })
  return {
    period: readPeriod(query) ?? defaultRange,
    filters: Object.fromEntries(filters) as FilteredPeriod<Name>['filters'],
  }
}

/** The query of the address that shows this. */
export function queryOf({ period, filters }: FilteredPeriod<string>) {
  return { ...addressOf(period), ...filters }
}

/** The parameters of the list at `now`, in Unix seconds; a range that ends now has what happens later, too. */
export function listParameters({ period, filters }: FilteredPeriod<string>, now: number): Query {
  const { start, end } = spanOf(period, now)
  return { ...filters, start_time: start, end_time: typeof period === 'string' ? undefined : end }
}
