import { type TSchema, Type } from 'typebox'

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
