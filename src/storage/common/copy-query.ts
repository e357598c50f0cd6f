import type { CopiedTable, CopiedValue } from '../ports/copy.ts'

/** Runs a statement with the parameters `?1`, `?2` and so on. */
export type CopyQuery = <Row>(text: string, values: readonly CopiedValue[]) => Promise<readonly Row[]>

/** What differs between the databases. */
export type CopyDialect = {
  /** The SQL of a column of a key. */
  readonly keyColumn: (table: CopiedTable, name: string) => string
  /** The SQL of the UTF-8 bytes of a text. */
  readonly bytesOf: (text: string) => string
}

/** The SQL of a name; some columns have the names of keywords. */
export function quoted(name: string): string {
  return `"${name}"`
}
