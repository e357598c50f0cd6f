import { storableTags } from '../common/storable-tags.ts'
import type { CopiedRow, CopiedTable } from '../ports/copy.ts'

/** Replaces what PostgreSQL cannot store or compare by U+FFFD, and counts the texts that had it. */
export function toStorable(
  { name, columns }: CopiedTable,
  rows: readonly CopiedRow[],
): { readonly rows: readonly CopiedRow[]; readonly replaced: number } {
  const texts = columns.filter(({ type }) => type === 'text').map((column) => column.name)
  let replaced = 0

  function storableRow(row: CopiedRow): CopiedRow {
    const changed: Record<string, string> = {}
    for (const column of texts) {
      const text = row[column]
      if (typeof text !== 'string') continue
      const storable = storableText(text, name === 'usage' && column === 'tags')
      if (storable !== text) changed[column] = storable
    }
    const count = Object.keys(changed).length
    replaced += count
    return count === 0 ? row : { ...row, ...changed }
  }

  return { rows: rows.map(storableRow), replaced }
}

/** JSON has only escapes of such characters, which are copied as they are; but reports convert tags to text. */
function storableText(text: string, isTags: boolean): string {
  const whole = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
  return isTags ? storableTags(whole) : whole
}
