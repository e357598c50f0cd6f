/**
 * What comes bit by bit from somewhere. Whoever takes it reads to the end, or closes it. A plain interface, because a
 * generator costs several promises for each item, at each layer that passes it on.
 */
export type Source<Item> = {
  /** The next item; undefined at the end. A failure is thrown, and ends it. */
  next(): Promise<Item | undefined>
  /** Lets go of what it comes from; what is thrown then is nobody's. Closing again does nothing. */
  close(): void
}

/** A generator as a source. */
export function sourceOf<Item>(generator: AsyncGenerator<Item, void>): Source<Item> {
  return {
    async next() {
      const { value } = await generator.next()
      return value ?? undefined
    },
    close: () => void generator.return().catch(() => {}),
  }
}

/** Takes every item, in order, to the end. */
export async function takeAll<Item>(source: Source<Item>, take: (item: Item) => void): Promise<void> {
  for (let item = await source.next(); item !== undefined; item = await source.next()) take(item)
}
