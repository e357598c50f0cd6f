import { maxPageBytes } from '../lib/page-bytes.ts'
import type { PageSlice } from './paging.ts'

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
