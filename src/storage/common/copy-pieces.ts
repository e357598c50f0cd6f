import type { CopiedRow, CopiedTable, CopiedValue, CopyBatch } from '../ports/copy.ts'
import { type CopyQuery, quoted } from './copy-query.ts'

/** The most bytes of a text that are read at once. */
export const maxPieceBytes = 4 * 1024 * 1024

/** SQLite stores rows of 1,000,000,000 bytes, of which the numbers take some; PostgreSQL stores texts of 1 GiB. */
const defaultMaxRowBytes = 999_000_000

/** A row that is too large for a batch with others. */
export type LargeRow = {
  readonly bytes: number
  readonly key: readonly CopiedValue[]
  /** The SQL that is true for this row, with its key as the first parameters. */
  readonly condition: string
}

/** Reads a row without its large texts, which are read in pieces. `bytesOf` returns the SQL of the UTF-8 bytes of a text. */
export async function readLargeRow(
  table: CopiedTable,
  query: CopyQuery,
  { bytes, key, condition }: LargeRow,
  bytesOf: (text: string) => string,
  maxRowBytes = defaultMaxRowBytes,
): Promise<CopyBatch> {
  if (bytes > maxRowBytes)
    throw new Error(
      `The row of ${table.name} with the key ${key.join(', ').slice(0, 200)} has ${bytes} bytes of text. weir copy ` +
        `copies at most ${maxRowBytes}, because no database of weir stores more. Delete the row and run it again.`,
    )
  const from = `FROM ${quoted(table.name)} WHERE ${condition}`
  const texts = table.columns.filter(({ type }) => type === 'text').map(({ name }) => name)
  const sizes = texts.map((name) => `octet_length(${quoted(name)}) ${quoted(name)}`).join()
  const [size] = await query<CopiedRow>(`SELECT ${sizes} ${from}`, key)
  const large = texts.filter((name) => Number(size?.[name] ?? 0) > maxPieceBytes)
  const list = table.columns.map(({ name }) => (large.includes(name) ? `NULL ${quoted(name)}` : quoted(name)))
  const rows = await query<CopiedRow>(`SELECT ${list.join()} ${from}`, key)
  const range = `?${key.length + 1}, ?${key.length + 2}`
  const pieces = large.map((name) => {
    const statement = `SELECT substr(${bytesOf(quoted(name))}, ${range}) bytes ${from}`
    return [name, readPieces((start) => query<Piece>(statement, [...key, start, maxPieceBytes]))] as const
  })
  return { rows, large: Object.fromEntries(pieces) }
}

type Piece = { readonly bytes: Uint8Array }

/** A range of bytes may end within a character, which the decoder keeps for the next piece. */
async function* readPieces(read: (start: number) => Promise<readonly Piece[]>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for (let start = 1; ; start += maxPieceBytes) {
    const [piece] = await read(start)
    const isLast = piece === undefined || piece.bytes.length < maxPieceBytes
    yield decoder.decode(piece?.bytes, { stream: !isLast })
    if (isLast) return
  }
}
