import { storableTags } from '../common/store-limits.ts'
import type { CopiedRow, CopiedTable, CopyBatch } from '../ports/copy.ts'

/**
 * Replaces what PostgreSQL cannot store or compare by U+FFFD, and counts the texts that had it: `replaced` is known when
 * the batch was written.
 */
export function toStorable(
  { name, columns }: CopiedTable,
  { rows, large }: CopyBatch,
): { readonly batch: CopyBatch; readonly replaced: () => number } {
  const texts = columns.filter(({ type }) => type === 'text').map((column) => column.name)
  const isTags = (column: string) => name === 'usage' && column === 'tags'
  let replaced = 0

  function storableRow(row: CopiedRow): CopiedRow {
    const changed: Record<string, string> = {}
    for (const column of texts) {
      const text = row[column]
      if (typeof text !== 'string') continue
      const storable = storableText(text, isTags(column))
      if (storable !== text) changed[column] = storable
    }
    const count = Object.keys(changed).length
    replaced += count
    return count === 0 ? row : { ...row, ...changed }
  }

  async function* storablePieces(pieces: AsyncIterable<string>, tags: boolean): AsyncGenerator<string> {
    let isChanged = false
    for await (const piece of tags ? withWholeEscapes(pieces) : pieces) {
      const storable = storableText(piece, tags)
      isChanged ||= storable !== piece
      yield storable
    }
    if (isChanged) replaced += 1
  }

  const storable = Object.entries(large).map(
    ([column, pieces]) => [column, storablePieces(pieces, isTags(column))] as const,
  )
  return {
    batch: { rows: rows.map(storableRow), large: Object.fromEntries(storable) },
    replaced: () => replaced,
  }
}

/** JSON has only escapes of such characters, which are copied as they are; but reports convert tags to text. */
function storableText(text: string, isTags: boolean): string {
  const whole = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
  return isTags ? storableTags(whole) : whole
}

/** The start of an escape at the end of a piece; pairs of backslashes before it are whole. */
const unfinishedEscape = /(?<!\\)(?:\\\\)*(\\(?:u[0-9a-f]{0,3})?)$/

/** Moves the seams of pieces of JSON, so that none is within an escape. */
async function* withWholeEscapes(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const piece of pieces) {
    const text = rest + piece
    rest = unfinishedEscape.exec(text)?.[1] ?? ''
    yield text.slice(0, text.length - rest.length)
  }
  yield rest
}
