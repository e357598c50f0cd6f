import { Type } from 'typebox'
import { badRequest } from '../lib/errors/errors.ts'

/** The direction of a list in time. */
export type Order = 'asc' | 'desc'

/** Which part of a list a request selects. */
export type Page = {
  /** The cursor: the id of the item before the page. */
  readonly after?: string | undefined
  readonly limit: number
  readonly order: Order
}

const defaultLimit = 20

/** The query parameters of every list, of which `order` is the default; `item` names what the cursor is the id of. */
export function pageParameters(item: string, order: Order) {
  return {
    after: Type.Optional(
      Type.String({
        description: `The ID of the last ${item} of the previous page. The page begins after it.`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: defaultLimit,
        description: 'The maximum number of items to return, from 1 to 100.',
      }),
    ),
    order: Type.Optional(
      Type.Unsafe<Order>({
        type: 'string',
        enum: ['asc', 'desc'],
        default: order,
        description: 'The order by creation time: `asc` from the oldest, `desc` from the newest.',
      }),
    ),
  }
}

/** The page that the query parameters select, with the defaults for those that are absent. */
export function toPage(query: Partial<Page>, order: Order = 'asc'): Page {
  return { after: query.after, limit: query.limit ?? defaultLimit, order: query.order ?? order }
}

/** The items of one page in its order, and whether more items follow. */
export type PageSlice<Item> = { readonly items: readonly Item[]; readonly hasMore: boolean }

/**
 * The slice of a whole list, sorted from old to new, that the page selects. `indexOf` returns the index of the cursor
 * in the list as the page orders it, or throws the 400 of `invalidCursor`.
 */
export function slicePage<Item>(
  list: readonly Item[],
  { after, limit, order }: Page,
  indexOf: (cursor: string, ordered: readonly Item[]) => number,
): PageSlice<Item> {
  const ordered = order === 'desc' ? list.toReversed() : list
  const start = after === undefined ? 0 : indexOf(after, ordered) + 1
  const end = start + limit
  return { items: ordered.slice(start, end), hasMore: end < ordered.length }
}

/** 400: the cursor is not the id of `item`, such as `a chat completion`. */
export function invalidCursor(item: string): Error {
  return badRequest(`Invalid 'after': must be the id of ${item}.`, 'invalid_value', 'after')
}
