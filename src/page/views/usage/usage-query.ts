import { type Grouping, groupingNamed } from './grouping.ts'
import { type RangeName, rangeNamed } from './range.ts'

/** What the view shows, as in the address. */
export type UsageQuery = {
  readonly range: RangeName
  readonly by: Grouping
  readonly model: string | undefined
  readonly key: string | undefined
  /** The usage of all organizations, with the admin key. */
  readonly everyone: boolean
}

/** Reads the query of the address. */
export function readQuery(query: URLSearchParams, everyone: boolean): UsageQuery {
  const by = groupingNamed(query.get('by'))
  return {
    range: rangeNamed(query.get('range')),
    by: by === 'organization_id' && !everyone ? 'none' : by,
    model: query.get('model') || undefined,
    key: query.get('key') || undefined,
    everyone,
  }
}

/** The query of the address that shows this usage. */
export function queryOf({ range, by, model, key, everyone }: UsageQuery) {
  return { range, by, model, key, scope: everyone ? 'all' : undefined }
}
