import { getTableColumns } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'

/** A statement with its values. */
export type Statement = { readonly text: string; readonly values: readonly unknown[] }

/** The type of each column of a table of parameters. */
type ColumnTypes = Readonly<Record<string, string>>

/** The types of the columns of a table; `Column` are their names. */
export function columnTypesOf<Column extends string>(table: PgTable): Readonly<Record<Column, string>> {
  const columns = Object.values(getTableColumns(table))
  return Object.fromEntries(columns.map((column) => [column.name, column.getSQLType()])) as never
}

/** Collects the values of one statement. */
export class Parameters {
  readonly values: unknown[] = []

  /** Returns the placeholder of the value. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }

  /**
   * Returns SQL for a table with these rows, which has a parameter for each column, however many rows there are. Its
   * column `n` counts the rows.
   */
  table<Types extends ColumnTypes>(
    name: string,
    types: Types,
    rows: readonly Readonly<Record<keyof Types, unknown>>[],
  ): string {
    const columns: (keyof Types & string)[] = Object.keys(types)
    const arrays = columns.map((column) => `${this.add(rows.map((row) => row[column]))}::${types[column]}[]`)
    const names = columns.map((column) => `"${column}"`)
    return `unnest(${arrays.join()}) WITH ORDINALITY AS ${name} (${names.join()}, n)`
  }
}
