import type { ApiClient } from '../../api/client.ts'
import type { Organization } from '../../api/objects.ts'
import { loadAll } from '../../api/pages.ts'

type Names = ReadonlyMap<string, string>

/** Loads the names of all organizations by their IDs; empty if they cannot be loaded: IDs are enough for a report. */
export async function loadOrganizationNames(client: ApiClient, signal: AbortSignal): Promise<Names> {
  try {
    const all = await loadAll<Organization>(client, '/admin/organizations', signal)
    return new Map(all.map(({ id, name }) => [id, name]))
  } catch {
    return new Map()
  }
}

/** Adds the names of the organizations to the results of buckets: the reports of the API have only their IDs. */
export function withOrganizationNames<Bucket extends { readonly results: readonly Grouped[] }>(
  buckets: readonly Bucket[],
  names: Names,
): readonly Bucket[] {
  return buckets.map((bucket) => ({
    ...bucket,
    results: bucket.results.map((result) => ({
      ...result,
      organization_name: names.get(result.organization_id ?? '') ?? null,
    })),
  }))
}

type Grouped = { readonly organization_id?: string | null }
