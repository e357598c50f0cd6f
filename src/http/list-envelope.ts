import { maxPageBytes } from '../lib/page-bytes.ts'
import type { PageSlice } from './paging.ts'
import { type TSchema, Type } from 'typebox'

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
