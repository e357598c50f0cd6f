/** Which part of a list to read: up to `limit` items, after the one with the id `after`. */
export type PageQuery = {
  readonly after?: string | undefined
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

/** A page of the items that have this text in their name or their id, in upper or lower case. */
export type SearchQuery = PageQuery & { readonly search?: string | undefined }

/** A page of the items that are near their end: their time, their budget or their balance is nearly used up. */
export type NearEndQuery = PageQuery & {
  /** Milliseconds since 1970. Only those that can be used and are near their end then; see `lib/near-end.ts`. */
  readonly nearEndAt?: number | undefined
}

/** The items of a page in its order, and whether more items follow. */
export type ListedPage<Item> = { readonly items: readonly Item[]; readonly hasMore: boolean }

/** The page of rows that were read with a limit of one more. */
export function toListedPage<Item>(rows: readonly Item[], { limit }: PageQuery): ListedPage<Item> {
  return { items: rows.slice(0, limit), hasMore: rows.length > limit }
}
