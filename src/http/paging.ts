import { type TSchema, Type } from 'typebox'
import { maxPageBytes } from '../lib/page-bytes.ts'

/** The direction of a list in time. */
export type Order = 'asc' | 'desc'

/** Which part of a list is told. */
export type Page = {
  /** The id of the item before the page. */
  readonly after?: string | undefined
  readonly limit: number
  readonly order: Order
}

const usualLimit = 20

/** The parameters of every list, of which `order` is the usual direction; `item` is what its cursor is the id of. */
export function pageParameters(item: string, order: Order) {
  return {
    after: Type.Optional(
      Type.String({
        description: `The id of the last ${item} of the page before; this one begins after it.`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: usualLimit,
        description: 'How many are told at most.',
      }),
    ),
    order: Type.Optional(
      Type.Unsafe<Order>({
        type: 'string',
        enum: ['asc', 'desc'],
        default: order,
        description: 'The order of creation, or the reverse.',
      }),
    ),
  }
}

/** The page that the parameters ask for, with what they leave open. */
export function toPage(given: Partial<Page>, order: Order = 'asc'): Page {
  return { after: given.after, limit: given.limit ?? usualLimit, order: given.order ?? order }
}

/** A page of items with these ids, of which each is JSON in parts, as JSON in parts; `more` says that others follow. */
export function renderPage(
  ids: readonly string[],
  items: readonly (readonly string[])[],
  more: boolean,
): readonly string[] {
  const ends = JSON.stringify({ first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: more })
  const data = items.flatMap((parts, index) => (index === 0 ? parts : [',', ...parts]))
  return ['{"object":"list","data":[', ...data, `],${ends.slice(1)}`]
}

/** A page of these items, or of the first of them that fit on it; `more` says that others follow behind them. */
export function renderItems(items: readonly ListedItem[], more: boolean): readonly string[] {
  const texts: string[] = []
  let bytes = 0
  for (const item of items) {
    const text = JSON.stringify(item)
    bytes += Buffer.byteLength(text)
    if (bytes > maxPageBytes && texts.length > 0) break
    texts.push(text)
  }
  const ids = items.slice(0, texts.length).map(({ id }) => id)
  return renderPage(
    ids,
    texts.map((text) => [text]),
    more || texts.length < items.length,
  )
}

type ListedItem = { readonly id: string }

/** The schema of one page of a list of these. */
export function pageOf<Item extends TSchema>(item: Item, title: string) {
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
