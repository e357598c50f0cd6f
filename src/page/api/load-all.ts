import type { ApiClient } from './client.ts'
import { ApiFailure } from './failure.ts'
import type { ListPage } from './use-pages.ts'

/** Of 100 items each. A longer list would not be useful in one table. */
const maxPages = 200

/** Loads every page of a list, from the newest item to the oldest. */
export async function loadAll<Item>(
  client: ApiClient,
  path: string,
  signal?: AbortSignal,
): Promise<readonly Item[]> {
  const items: Item[] = []
  let after: string | undefined
  for (let count = 0; count < maxPages; count++) {
    const query = { limit: 100, order: 'desc', after }
    const { data, has_more, last_id }: ListPage<Item> = await client.get(path, { query, signal })
    items.push(...data)
    if (!has_more || last_id === null) return items
    after = last_id
  }
  throw new ApiFailure(`The list has more than ${items.length} items. Use the command line or the API.`)
}
