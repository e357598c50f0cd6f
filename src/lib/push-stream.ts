/**
 * A stream that pushes its items to a callback. The consumer either reads all items or closes the stream. Items are
 * pushed and not pulled: a promise for each item, at each layer that passes it on, would cost more than the item.
 */
export type PushStream<Item> = {
  /**
   * Passes every item to `onItem`, in order, and awaits the promise that it may return. Resolves at the end of the
   * stream; rejects if the source or `onItem` fails, which also ends the stream.
   */
  forEach(onItem: OnItem<Item>): Promise<void>
  /**
   * Releases the source and ignores its errors. Closing again does nothing. `reason` is why the gateway closes it; absent
   * where the reader has left.
   */
  close(reason?: Error): void
}

/** Receives one item of a stream; a returned promise is awaited before the next item. */
export type OnItem<Item> = (item: Item) => Promise<unknown> | void

/** A stream whose first item can be awaited separately; `forEach` then passes the others. */
export type OpenableStream<Item> = PushStream<Item> & {
  first(): Promise<Item | undefined>
  /** Whether another item or a failure may follow the first item. */
  hasMore(): boolean
}

/** Creates a stream from a generator. */
export function fromGenerator<Item>(generator: AsyncGenerator<Item, void>): OpenableStream<Item> {
  return {
    async first() {
      const { value } = await generator.next()
      return value ?? undefined
    },
    hasMore: () => true,
    async forEach(onItem) {
      for await (const item of generator) await onItem(item)
    },
    close: () => void generator.return().catch(() => {}),
  }
}
