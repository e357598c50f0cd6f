/** A table that `weir copy` copies. */
export type CopiedTable = {
  readonly name: string
  /** The columns that both stores have, in their order. */
  readonly columns: readonly CopiedColumn[]
  /** The columns by which rows are read and written in order, together unique, never null; or the order of creation. */
  readonly key: readonly string[] | 'creation'
}

export type CopiedColumn = {
  readonly name: string
  readonly type: 'text' | 'number' | 'boolean' | 'bytes'
  /** The type of its PostgreSQL column. */
  readonly postgresType: string
}

/** A row by column; JSON is text, which is copied unread. SQLite has 0 and 1 instead of booleans. */
export type CopiedRow = Readonly<Record<string, CopiedValue>>

/** Rows that are written together. */
export type CopyBatch = {
  readonly rows: readonly CopiedRow[]
  /** The texts of its only row that are too large to be in memory, by column, in pieces; the row has null for them. */
  readonly large: LargeTexts
}

export type LargeTexts = Readonly<Record<string, AsyncIterable<string>>>

export type CopiedValue = string | number | boolean | Uint8Array | null

/** The sums that must be equal in both databases after a copy, in nano-dollars. */
export type CopySums = { readonly balance: bigint; readonly reserved: bigint; readonly ledger: bigint }

/** An organization whose balance is not the sum of its ledger; amounts in nano-dollars. */
export type UnbalancedOrganization = {
  readonly name: string
  readonly balance: bigint
  readonly ledger: bigint
}

/** Reads what was copied, to verify it. */
type CopiedContent = {
  count(table: CopiedTable): Promise<number>
  sums(): Promise<CopySums>
  /** The organizations that exist and are not balanced, by id. */
  unbalanced(): Promise<readonly UnbalancedOrganization[]>
}

/** The content of a database at one moment. */
export type CopySnapshot = CopiedContent & {
  /** Reads the rows in the order of their key, in batches of a bounded size. */
  rows(table: CopiedTable): AsyncIterable<CopyBatch>
}

/** The database that is copied; nothing in it is changed. */
export type CopySource = {
  /** The path of the file, or the host and the name of the PostgreSQL database. */
  readonly label: string
  /** The signs of life of the servers that use it. */
  beats(): Promise<readonly { readonly id: string; readonly beat: number }[]>
  /** Runs the work with the content at one moment; what is written meanwhile is not part of it. */
  snapshot<T>(work: (snapshot: CopySnapshot) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A database that is being filled. */
export type CopyWriter = CopiedContent & {
  /** Inserts a batch in a transaction of its own. The tables and their rows come in the order of `copiedTables`. */
  insert(table: CopiedTable, batch: CopyBatch): Promise<void>
}

/** The database into which is copied. */
export type CopyTarget = {
  /** The path of the file, or the host and the name of the PostgreSQL database. */
  readonly label: string
  /**
   * Runs the work with an empty database. Until it has resolved, no server can use the database; rejects with an error
   * for the operator if the target is not empty.
   */
  fill<T>(work: (writer: CopyWriter) => Promise<T>): Promise<T>
  close(): Promise<void>
}
