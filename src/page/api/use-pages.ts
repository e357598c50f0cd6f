import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiFailure, isAbort, toFailure } from './failure.ts'

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
}

type State<Item> = Omit<Pages<Item>, 'loadMore'> & { readonly after?: string }

const initial: State<never> = { items: [], loading: true, hasMore: true }

/** Loads the first page, again when an input changes, and each next one on demand. */
export function usePages<Item>(
  load: (after: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>,
  inputs: readonly unknown[],
): Pages<Item> {
  const [state, setState] = useState<State<Item>>(initial)
  const loader = useRef<Loader<Item> | undefined>(undefined)
  useEffect(() => {
    const current = new Loader(load, setState)
    loader.current = current
    void current.next()
    return () => current.stop()
  }, inputs)
  const loadMore = useCallback(() => void loader.current?.next(), [])
  return { ...state, loadMore }
}

/** Loads one list. */
class Loader<Item> {
  readonly #load: (after: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>
  readonly #onChange: (state: State<Item>) => void
  readonly #controller = new AbortController()
  #state: State<Item> = { ...initial, loading: false }

  constructor(
    load: (after: string | undefined, signal: AbortSignal) => Promise<ListPage<Item>>,
    onChange: (state: State<Item>) => void,
  ) {
    this.#load = load
    this.#onChange = onChange
  }

  async next(): Promise<void> {
    const { items, after, hasMore, loading } = this.#state
    if (loading || !hasMore) return
    this.#change({ items, hasMore, loading: true, ...(after !== undefined && { after }) })
    try {
      const { data, last_id, has_more } = await this.#load(after, this.#controller.signal)
      this.#change({
        items: [...items, ...data],
        loading: false,
        hasMore: has_more && last_id !== null,
        ...(last_id !== null && { after: last_id }),
      })
    } catch (error) {
      if (!isAbort(error)) this.#change({ ...this.#state, loading: false, failure: toFailure(error) })
    }
  }

  stop(): void {
    this.#controller.abort()
  }

  #change(state: State<Item>): void {
    if (this.#controller.signal.aborted) return
    this.#state = state
    this.#onChange(state)
  }
}
