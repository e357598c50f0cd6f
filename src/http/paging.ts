import { type TSchema, Type } from 'typebox'
import { badRequest } from '../lib/errors/errors.ts'
import { maxPageBytes } from '../lib/page-bytes.ts'
import { jsonText } from './reply.ts'

/** The direction of a list in time. */
type Order = 'asc' | 'desc'

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

/** The query parameter that searches a list of `items`. */
export function searchParameter(items: string) {
  return Type.Optional(
    Type.String({
      maxLength: 256,
      description: `Only ${items} with this text in their name or their ID, in upper or lower case.`,
    }),
  )
}

/** The page that the query parameters select, with the defaults for those that are absent. */
export function toPage(query: Partial<Page>, order: Order = 'asc'): Page {
  return { after: query.after, limit: query.limit ?? defaultLimit, order: query.order ?? order }
}

/** The items of one page in its order, and whether more items follow. */
type PageSlice<Item> = { readonly items: readonly Item[]; readonly hasMore: boolean }

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

/** Renders one page as JSON in parts, from the ids of its items and from each item as JSON in parts. */
export function renderList(
  ids: readonly string[],
  items: readonly (readonly string[])[],
  hasMore: boolean,
): readonly string[] {
  const ends = JSON.stringify({ first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: hasMore })
  const data = items.flatMap((parts, index) => (index === 0 ? parts : [',', ...parts]))
  return ['{"object":"list","data":[', ...data, `],${ends.slice(1)}`]
}

/** Renders the slice as JSON in parts, without the last items where all together exceed `maxPageBytes`. */
export function renderSlice({ items, hasMore }: PageSlice<ListedItem>): readonly string[] {
  const texts: string[] = []
  let bytes = 0
  for (const item of items) {
    const text = JSON.stringify(item)
    bytes += Buffer.byteLength(text)
    if (bytes > maxPageBytes && texts.length > 0) break
    texts.push(text)
  }
  const ids = items.slice(0, texts.length).map(({ id }) => id)
  return renderList(
    ids,
    texts.map((text) => [text]),
    hasMore || texts.length < items.length,
  )
}

/** Replies with one page of a list, rendered; throws the 400 of `invalidCursor` for none: `item` says what the cursor must be. */
export async function pageReply<Item>(
  page: PageSlice<Item> | undefined,
  item: string,
  render: (items: readonly Item[]) => readonly ListedItem[] | Promise<readonly ListedItem[]>,
): Promise<Response> {
  if (page === undefined) throw invalidCursor(item)
  return jsonText(renderSlice({ ...page, items: await render(page.items) }))
}

type ListedItem = { readonly id: string }

/** The schema of one page of a list, whose items have this schema. */
export function listSchema<Item extends TSchema>(item: Item, title: string) {
  const idOrNull = Type.Union([Type.String(), Type.Null()])
  return Type.Object(
    {
      object: Type.Literal('list'),
      data: Type.Array(item),
      first_id: idOrNull,
      last_id: idOrNull,
      has_more: Type.Boolean(),
    },
    { title },
  )
}
