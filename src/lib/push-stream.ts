/**
 * What comes bit by bit from somewhere. Whoever takes it takes all of it, or closes it. Items are handed over and not
 * fetched: a promise for each of them, at each layer that passes it on, would cost more than the item.
 */
export type PushStream<Item> = {
  /**
   * Gives every item to `take`, in order, and waits where that returns a promise. Resolves at the end; what fails, on
   * either side, rejects and ends it.
   */
  each(take: OnItem<Item>): Promise<void>
  /** Lets go of what it comes from; what is thrown then is nobody's. Closing again does nothing. */
  close(): void
}

export type OnItem<Item> = (item: Item) => Promise<unknown> | void

/** A source whose first item can be waited for alone: then `each` gives the others. */
export type OpenableStream<Item> = PushStream<Item> & { first(): Promise<Item | undefined> }

/** A generator as a source. */
export function fromGenerator<Item>(generator: AsyncGenerator<Item, void>): OpenableStream<Item> {
  return {
    async first() {
      const { value } = await generator.next()
      return value ?? undefined
    },
    async each(take) {
      for await (const item of generator) await take(item)
    },
    close: () => void generator.return().catch(() => {}),
  }
}
