import { type Column, type SQL, sql } from 'drizzle-orm'
import type {
  CopiedRow,
  CopiedTable,
  CopiedValue,
  CopyBatch,
  CopySnapshot,
  CopySums,
  UnbalancedOrganization,
} from '../ports/copy.ts'
import { ledger, organizations } from '../schema/organizations.ts'
import { select } from '../sql.ts'
import { type Dialect, execute, type Script, statement } from '../statement.ts'

/** Executes a script that reads. */
type Read = <T>(script: Script<T>) => Promise<T>

/** Reads the content of a database for a copy, and to verify one. */
export function createContent(read: Read): CopySnapshot {
  return {
    count: (table) => read(countRows(table)),
    sums: () => read(readSums()),
    unbalanced: () => read(findUnbalanced()),
    rows: (table) => readBatches(table, read),
  }
}

/** Throws an error for the operator if one of the copied tables is a view: what is behind it is not known. */
export function assertNoViews(
  label: string,
  tables: readonly CopiedTable[],
  views: readonly { readonly name: string }[],
): void {
  const view = tables.find(({ name }) => views.some((found) => found.name === name))
  if (view !== undefined)
    throw new Error(`In the database ${label}, ${view.name} is a view. weir copy copies tables only.`)
}

function* countRows({ name }: CopiedTable): Script<number> {
  const counted = () => sql<{ readonly rows: number }>`select count(*) as "rows" from ${sql.identifier(name)}`
  const [row] = yield* execute(counted)
  return row?.rows ?? 0
}

function* readSums(): Script<CopySums> {
  const [row] = yield* selectSums()
  return {
    balance: BigInt(row?.balance ?? 0),
    reserved: BigInt(row?.reserved ?? 0),
    ledger: BigInt(row?.ledger ?? 0),
  }
}

const selectSums = statement(() =>
  select(
    {
      balance: sumOf(organizations.balance),
      reserved: sumOf(organizations.reserved),
      ledger: sumOf(ledger.amount),
    },
    sql``,
  ),
)

/** A text, because it may exceed the exact range of a number. */
function sumOf(column: Column): SQL<string> {
  return sql`(select cast(coalesce(sum(${column}), 0) as text) from ${column.table})`
}

function* findUnbalanced(): Script<readonly UnbalancedOrganization[]> {
  const rows = yield* selectUnbalanced()
  return rows.map((row) => ({ name: row.name, balance: BigInt(row.balance), ledger: BigInt(row.ledger) }))
}

const selectUnbalanced = statement(() =>
  select(
    {
      name: organizations.name,
      balance: sql<string>`cast(${organizations.balance} as text)`,
      ledger: sql<string>`cast(coalesce(total.amount, 0) as text)`,
    },
    sql`from ${organizations} left join (
        select ${ledger.organization_id} as id, sum(${ledger.amount}) as amount from ${ledger} group by 1
      ) as total on total.id = ${organizations.id}
      where ${organizations.deletion} is null and ${organizations.balance} <> coalesce(total.amount, 0)
      order by ${organizations.id}`,
  ),
)

/** The most rows and bytes of texts in a batch; a larger row is a batch of its own. */
const maxRows = 1000
const maxBytes = 4 * 1024 * 1024

/** The most bytes of a text that are read at once. */
export const maxPieceBytes = maxBytes

/** SQLite stores rows of 1,000,000,000 bytes, of which the numbers take some; PostgreSQL stores texts of 1 GiB. */
const defaultMaxRowBytes = 999_000_000

/** Reads a table in batches, in the order of its key. */
export async function* readBatches(
  table: CopiedTable,
  read: Read,
  maxRowBytes = defaultMaxRowBytes,
): AsyncGenerator<CopyBatch> {
  let after: Key = []
  for (;;) {
    const sizes = await read(readSizes(table, after))
    for (const { bytes, ...last } of lastOfBatches(sizes)) {
      const key = Object.values(last)
      if (bytes > maxRowBytes) throw rowTooLarge(table, key, bytes, maxRowBytes)
      if (bytes > maxBytes) yield await readLargeRow(table, key, read)
      else yield { rows: await read(readRows(table, after, key)), large: {} }
      after = key
    }
    if (sizes.length < maxRows) return
  }
}

type Key = readonly CopiedValue[]

/** The bytes of the texts of a row, and its key. */
type Size = CopiedRow & { readonly bytes: number }

/** The sizes are read before the rows, so that only one batch is in memory; `octet_length` does not read the text. */
function readSizes(table: CopiedTable, after: Key): Script<readonly Size[]> {
  const bytes = textsOf(table).map((text) => sql`coalesce(octet_length(${text}), 0)`)
  const total = bytes.length === 0 ? sql`0` : sql.join(bytes, sql` + `)
  return execute((dialect) => {
    const keys = keyOf(table, dialect).map((part, index) => sql`${part} as ${sql.identifier(`key${index}`)}`)
    return sql<Size>`select ${list(keys)}, ${total} as bytes from ${sql.identifier(table.name)}
      where ${isBeyond(table, after, dialect)} order by ${list(keyOf(table, dialect))} limit ${maxRows}`
  })
}

/** Reads the rows beyond `after`, up to the one with the key `last`. */
function readRows(table: CopiedTable, after: Key, last: Key): Script<readonly CopiedRow[]> {
  const columns = table.columns.map(({ name }) => sql`${sql.identifier(name)}`)
  return execute((dialect) => {
    const key = list(keyOf(table, dialect))
    return sql<CopiedRow>`select ${list(columns)} from ${sql.identifier(table.name)}
      where ${isBeyond(table, after, dialect)} and (${key}) <= (${parameters(last)}) order by ${key}`
  })
}

function isBeyond(table: CopiedTable, after: Key, dialect: Dialect): SQL {
  return after.length === 0 ? sql`true` : sql`(${list(keyOf(table, dialect))}) > (${parameters(after)})`
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

function rowTooLarge({ name }: CopiedTable, key: Key, bytes: number, maxRowBytes: number): Error {
  return new Error(
    `The row of ${name} with the key ${key.join(', ').slice(0, 200)} has ${bytes} bytes of text. weir copy ` +
      `copies at most ${maxRowBytes}, because no database of weir stores more. Delete the row and run it again.`,
  )
}

/** Reads a row that is too large for a batch with others without its large texts, which are read in pieces. */
async function readLargeRow(table: CopiedTable, key: Key, read: Read): Promise<CopyBatch> {
  const from = (dialect: Dialect) =>
    sql`from ${sql.identifier(table.name)} where (${list(keyOf(table, dialect))}) = (${parameters(key)})`
  const sizes = textsOf(table).map((text) => sql`octet_length(${text}) as ${text}`)
  const [size] = await read(execute((dialect) => sql<CopiedRow>`select ${list(sizes)} ${from(dialect)}`))
  const isLarge = (name: string) => Number(size?.[name] ?? 0) > maxPieceBytes
  const columns = table.columns.map(({ name, type }) =>
    type === 'text' && isLarge(name) ? sql`null as ${sql.identifier(name)}` : sql`${sql.identifier(name)}`,
  )
  const rows = await read(execute((dialect) => sql<CopiedRow>`select ${list(columns)} ${from(dialect)}`))
  const large = table.columns.filter(({ name, type }) => type === 'text' && isLarge(name))
  const piecesOf = (name: string) => (start: number) =>
    execute((dialect) => {
      const bytes = dialect.bytesOf(sql.identifier(name))
      return sql<Piece>`select substr(${bytes}, ${start}, ${maxPieceBytes}) as bytes ${from(dialect)}`
    })
  const pieces = large.map(({ name }) => [name, readPieces(piecesOf(name), read)] as const)
  return { rows, large: Object.fromEntries(pieces) }
}

type Piece = { readonly bytes: Uint8Array }

/** A range of bytes may end within a character, which the decoder keeps for the next piece. */
async function* readPieces(
  pieceAt: (start: number) => Script<readonly Piece[]>,
  read: Read,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  for (let start = 1; ; start += maxPieceBytes) {
    const [piece] = await read(pieceAt(start))
    const isLast = piece === undefined || piece.bytes.length < maxPieceBytes
    yield decoder.decode(piece?.bytes, { stream: !isLast })
    if (isLast) return
  }
}

function keyOf({ key }: CopiedTable, { keyOrder }: Dialect): readonly SQL[] {
  return key === 'creation' ? [keyOrder] : key.map((name) => sql`${sql.identifier(name)}`)
}

function textsOf({ columns }: CopiedTable): readonly SQL[] {
  return columns.filter(({ type }) => type === 'text').map(({ name }) => sql`${sql.identifier(name)}`)
}

function list(parts: readonly SQL[]): SQL {
  return sql.join([...parts], sql`, `)
}

function parameters(values: Key): SQL {
  return list(values.map((value) => sql`${value}`))
}
