import type { CopiedRow, CopiedTable, CopiedValue, CopyBatch } from '../ports/copy.ts'
import { readLargeRow } from './copy-pieces.ts'
import { type CopyDialect, type CopyQuery, quoted } from './copy-query.ts'

/** The most rows and bytes of texts in a batch; a larger row is a batch of its own. */
const maxRows = 1000
const maxBytes = 4 * 1024 * 1024

/** Reads a table in batches, in the order of its key. */
export async function* readBatches(
  table: CopiedTable,
  query: CopyQuery,
  dialect: CopyDialect,
  maxRowBytes?: number,
): AsyncGenerator<CopyBatch> {
  const statements = statementsOf(
    table,
    table.key.map((name) => dialect.keyColumn(table, name)),
  )
  let after: Key = []
  for (;;) {
    const sizes: readonly Size[] = await query(statements.sizes(after), [...after, maxRows])
    for (const last of lastOfBatches(sizes)) {
      const key = table.key.map((_, index) => last[`key${index}`] ?? null)
      const { bytes } = last
      if (bytes > maxBytes) {
        const row = { bytes, key, condition: statements.row }
        yield await readLargeRow(table, query, row, dialect.bytesOf, maxRowBytes)
      } else yield { rows: await query<CopiedRow>(statements.rows(after), [...after, ...key]), large: {} }
      after = key
    }
    if (sizes.length < maxRows) return
  }
}

type Key = readonly CopiedValue[]
type Size = CopiedRow & { readonly bytes: number }

/** The sizes are read before the rows, so that only one batch is in memory; `octet_length` does not read the text. */
function statementsOf({ name, columns }: CopiedTable, key: readonly string[]) {
  const list = columns.map((column) => quoted(column.name)).join()
  const texts = columns.filter(({ type }) => type === 'text').map((column) => quoted(column.name))
  const bytes = texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ') || '0'
  const placeholders = (first: number) => key.map((_, index) => `?${first + index}`).join()
  const beyond = (after: Key) => (after.length === 0 ? '' : `(${key.join()}) > (${placeholders(1)})`)
  const keys = key.map((column, index) => `${column} key${index}`).join()
  return {
    row: `(${key.join()}) = (${placeholders(1)})`,
    sizes: (after: Key) =>
      `SELECT ${keys}, ${bytes} bytes FROM ${quoted(name)} ${where(beyond(after))}
       ORDER BY ${key.join()} LIMIT ?${after.length + 1}`,
    rows: (after: Key) =>
      `SELECT ${list} FROM ${quoted(name)}
       ${where(beyond(after), `(${key.join()}) <= (${placeholders(after.length + 1)})`)} ORDER BY ${key.join()}`,
  }
}

/** Returns the last row of each batch. */
function lastOfBatches(sizes: readonly Size[]): readonly Size[] {
  const last: Size[] = []
  let bytes = 0
  for (const [index, size] of sizes.entries()) {
    bytes += size.bytes
    const next = sizes[index + 1]
    if (next !== undefined && bytes + next.bytes <= maxBytes) continue
    last.push(size)
    bytes = 0
  }
  return last
}

/** The error for a source in which one of the tables is a view. */
export function viewInSource(label: string, name: string): Error {
  return new Error(`In the database ${label}, ${name} is a view. weir copy copies tables only.`)
}

function where(...conditions: readonly string[]): string {
  const known = conditions.filter((condition) => condition !== '')
  return known.length === 0 ? '' : `WHERE ${known.join(' AND ')}`
}
