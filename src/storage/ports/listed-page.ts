/** Which part of a list to read: up to `limit` items, after the one with the id `after`. */
export type PageQuery = {
  readonly after?: string | undefined
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

/** The items of a page in its order, and whether more items follow. */
export type ListedPage<Item> = { readonly items: readonly Item[]; readonly hasMore: boolean }

/** The page of rows that were read with a limit of one more. */
export function toListedPage<Item>(rows: readonly Item[], { limit }: PageQuery): ListedPage<Item> {
  return { items: rows.slice(0, limit), hasMore: rows.length > limit }
}
