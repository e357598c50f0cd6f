import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiClient, Query } from './client.ts'
import { ApiFailure, isAbort, toFailure } from './failure.ts'

/** A page of a list as the API returns it. */
export type ListPage<Item> = {
  readonly data: readonly Item[]
  readonly last_id: string | null
  readonly has_more: boolean
}

/** A list that is loaded page by page. */
export type Pages<Item> = {
  readonly items: readonly Item[]
  readonly loading: boolean
  readonly failure?: ApiFailure
  readonly hasMore: boolean
  /** Loads the next page, unless one is being loaded or there is none. */
  loadMore(): void
  /** Loads the list again from its first page, after a change. The items stay until they are replaced. */
  reload(): void
}

type State<Item> = Omit<Pages<Item>, 'loadMore' | 'reload'> & { readonly after: string | undefined }
type LoadPage<Item> = (after: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>

const initial: State<never> = { items: [], loading: true, hasMore: true, after: undefined }

/** Loads the first page, again when an input changes, and each next one on demand. */
export function usePages<Item>(load: LoadPage<Item>, inputs: readonly unknown[]): Pages<Item> {
  const [state, setState] = useState<State<Item>>(initial)
  const [attempt, setAttempt] = useState(0)
  const next = useRef<() => Promise<void>>(undefined)
  const shown = useRef({ attempt, items: state.items })
  shown.current.items = state.items
  useEffect(() => {
    const controller = new AbortController()
    const kept = shown.current.attempt === attempt ? [] : shown.current.items
    shown.current.attempt = attempt
    next.current = createLoader(load, setState, controller.signal, kept)
    void next.current()
    return () => controller.abort()
  }, [...inputs, attempt])
  const loadMore = useCallback(() => void next.current?.(), [])
  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  return { ...state, loadMore, reload }
}

/** Loads a list of the API page by page: the first page, again when the query changes, and each next one on demand. */
export function useList<Item>(client: ApiClient, path: string, query: Query): Pages<Item> {
  return usePages(
    async (after, signal) => {
      let page = await client.get<ListPage<Item>>(path, { query: { ...query, after }, signal })
      // A page without items ends a part of the search only: the next one goes on.
      while (page.data.length === 0 && page.has_more && page.last_id !== null) {
        const next = { ...query, after: page.last_id }
        page = await client.get<ListPage<Item>>(path, { query: next, signal })
      }
      return page
    },
    [client, path, JSON.stringify(query)],
  )
}

/** Returns a function that loads the next page of one list; the first one replaces the items that are `kept` until then. */
function createLoader<Item>(
  load: LoadPage<Item>,
  onChange: (state: State<Item>) => void,
  signal: AbortSignal,
  kept: readonly Item[],
): () => Promise<void> {
  let state: State<Item> = { ...initial, items: kept, loading: false }
  const change = (changed: State<Item>) => {
    if (signal.aborted) return
    state = changed
    onChange(changed)
  }
  return async () => {
    const { items, after, hasMore, loading } = state
    if (loading || !hasMore) return
    change({ items, after, hasMore, loading: true })
    try {
      const { data, last_id, has_more } = await load(after, signal)
      const more = has_more && last_id !== null
      const earlier = after === undefined ? [] : items
      change({ items: [...earlier, ...data], after: last_id ?? after, hasMore: more, loading: false })
    } catch (error) {
      if (!isAbort(error)) change({ ...state, loading: false, failure: toFailure(error) })
    }
  }
}

/** The query of a list of the admin API, the newest first. */
export const newestFirst: Query = { limit: 100, order: 'desc' }

/** Of 100 items each. A longer list would not be useful in one table. */
const maxPages = 200

/** Loads every page of a list, from the newest item to the oldest; `filter` is added to the query of each request. */
export async function loadAll<Item>(
  client: ApiClient,
  path: string,
  signal?: AbortSignal,
  filter: Query = {},
): Promise<readonly Item[]> {
  const items: Item[] = []
  let after: string | undefined
  for (let count = 0; count < maxPages; count++) {
    const query = { ...filter, ...newestFirst, after }
    const { data, has_more, last_id }: ListPage<Item> = await client.get(path, { query, signal })
    items.push(...data)
    if (!has_more || last_id === null) return items
    after = last_id
  }
  throw new ApiFailure(`The list has more than ${items.length} items. Use the command line or the API.`)
}

/** Loads a list that is not divided into pages. */
export async function loadList<Item>(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  return (await client.get<{ readonly data: readonly Item[] }>(path, { signal })).data
}
