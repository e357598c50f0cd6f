import { hasFailed, type LiveRequest } from './live-request.ts'
import type { OrganizationNames } from './live-columns.tsx'

/** The requests that are shown. */
export type LiveFilter = { readonly search: string; readonly state: LiveState }

/** The choices of the filter by state. */
export const liveStates = [
  { value: 'all', label: 'All' },
  { value: 'open', label: 'In progress' },
  { value: 'failed', label: 'Failed' },
] as const

type LiveState = (typeof liveStates)[number]['value']

/** Reads the filter of the address. */
export function readFilter(query: URLSearchParams): LiveFilter {
  const state = liveStates.find(({ value }) => value === query.get('state'))
  return { search: query.get('q') ?? '', state: state?.value ?? 'all' }
}

/** Returns the requests that match: every word of the search occurs in one of the names. */
export function filterRequests(
  rows: readonly LiveRequest[],
  { search, state }: LiveFilter,
  names: OrganizationNames,
): readonly LiveRequest[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0 && state === 'all') return rows
  return rows.filter((row) => {
    if (state === 'open' && row.end !== null) return false
    if (state === 'failed' && !hasFailed(row)) return false
    const text = searchText(row, names)
    return words.every((word) => text.includes(word))
  })
}

function searchText(row: LiveRequest, names: OrganizationNames): string {
  const { model, organization, key, api, provider, request, end } = row
  const name = names.get(organization ?? '')
  return [model, organization, name, key, api, provider, request, end?.status, end?.error]
    .join(' ')
    .toLowerCase()
}
