import type { Query } from '../../api/client.ts'
import { replaceQuery } from '../../routing/route.ts'

/** The statuses of responses. */
export const responseStatuses = ['completed', 'incomplete', 'failed', 'in_progress', 'queued'] as const

/** What a list is filtered by, as in the address. */
export type StoredFilter = {
  readonly model: string
  readonly status: string
  readonly order: 'desc' | 'asc'
  /** Each pair that the metadata must have. */
  readonly metadata: Readonly<Record<string, string>>
}

/** Reads the filter of the address. */
export function readFilter(query: URLSearchParams): StoredFilter {
  return {
    model: query.get('model') ?? '',
    status: query.get('status') ?? '',
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
    metadata: readPairs(query.get('metadata')),
  }
}

/** Keeps the filter in the address. */
export function keepFilter({ model, status, order, metadata }: StoredFilter): void {
  replaceQuery({
    model: model || undefined,
    status: status || undefined,
    order: order === 'asc' ? order : undefined,
    metadata: Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : undefined,
  })
}

/** The parameters of a list with this filter. */
export function listParameters({ model, status, order, metadata }: StoredFilter): Query {
  const pairs = Object.entries(metadata).map(([key, value]) => [`metadata[${key}]`, value])
  return { model: model || undefined, status: status || undefined, order, ...Object.fromEntries(pairs) }
}

/** The address may have been written by hand. */
function readPairs(json: string | null): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(json ?? '{}')
    const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(pairs.filter(([, one]) => typeof one === 'string'))
  } catch {
    return {}
  }
}
