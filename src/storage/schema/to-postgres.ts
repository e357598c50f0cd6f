import { getTableColumns, getTableName, type SQL, type Table } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  type PgColumn,
  type PgColumnBuilderBase,
  pgTable,
  type PgTable,
  type PgTableExtraConfigValue,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core'
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'

/** The differences of a table of PostgreSQL from that of SQLite. */
export type Differences = {
  /** Columns that are missing in SQLite, or have another type there. */
  readonly columns?: Readonly<Record<string, PgColumnBuilderBase>>
  /** Columns that only SQLite has. */
  readonly without?: readonly string[]
  /** Whether one of `columns` is the primary key, instead of that of SQLite. */
  readonly ownKey?: boolean
  /** The name of a primary key of several columns. */
  readonly keyName?: string
  /** Replaces the indexes; columns by their names. */
  readonly indexes?: (
    on: (...names: string[]) => [PgColumn, ...PgColumn[]],
  ) => readonly PgTableExtraConfigValue[]
}

/**
 * Derives the table of PostgreSQL from that of SQLite. JSON is stored as text: it is sent to clients unread, and `jsonb`
 * rejects some of what JSON allows. The row of an organization is never deleted there, and what is stored for it locks that
 * row first; so no table has a foreign key to it, which would cost every request a check.
 */
export function toPostgres(table: SQLiteTable, differences: Differences = {}): PgTable {
  const { name, columns, checks, primaryKeys } = getTableConfig(table)
  const { columns: others = {}, without = [], ownKey = false, keyName, indexes } = differences
  const own = columns.filter((column) => !without.includes(column.name))
  const builders = { ...Object.fromEntries(own.map((column) => [column.name, toColumn(column)])), ...others }
  const derived = pgTable(name, builders, (created) => {
    const postgresColumns = created as unknown as Readonly<Record<string, PgColumn>>
    const named = (...names: string[]) =>
      names.flatMap((column) => postgresColumns[column] ?? []) as [PgColumn, ...PgColumn[]]
    const columnsOf = (found: readonly { readonly name: string }[]) =>
      named(...found.map((column) => column.name))
    return [
      ...(ownKey ? [] : primaryKeys).map(({ columns }) =>
        primaryKey({ name: keyName, columns: columnsOf(columns) }),
      ),
      ...(indexes?.(named) ??
        getTableConfig(table).indexes.map(({ config }) =>
          index(config.name)
            .on(...columnsOf(config.columns as SQLiteColumn[]))
            .where(config.where as SQL),
        )),
      ...checks.map((found) => check(found.name, found.value)),
    ]
  })
  derivedTables.set(table, derived)
  return derived
}

/** Those that others refer to are derived first. */
const derivedTables = new WeakMap<Table, PgTable>()

/** Texts, exact integers, booleans and bytes are all that the tables have. */
function toColumn(column: SQLiteColumn): PgColumnBuilderBase {
  const builder = builderOf(column.columnType)
  if (column.notNull) builder.notNull()
  if (column.hasDefault) builder.default(column.default as never)
  if (column.primary) builder.primaryKey()
  if (column.isUnique) builder.unique()
  const referenced = referencedBy(column)
  return referenced === undefined ? builder : builder.references(() => referenced, { onDelete: 'cascade' })
}

function builderOf(columnType: string) {
  switch (columnType) {
    case 'SQLiteText':
    case 'SQLiteTextJson':
      return text()
    case 'SQLiteInteger':
      return bigint({ mode: 'number' })
    case 'SQLiteBoolean':
      return boolean()
    case 'SQLiteBlobBuffer':
      return bytea()
    default:
      throw new Error(`There is no PostgreSQL column for ${columnType}.`)
  }
}

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })

/** The column of PostgreSQL that a column of SQLite refers to. */
function referencedBy(column: SQLiteColumn): PgColumn | undefined {
  for (const key of getTableConfig(column.table).foreignKeys) {
    const { columns, foreignColumns } = key.reference()
    const [foreign] = foreignColumns
    const table = columns[0] === column && foreign ? derivedTables.get(foreign.table) : undefined
    if (table && foreign && getTableName(table) !== 'organizations')
      return (getTableColumns(table) as Readonly<Record<string, PgColumn>>)[foreign.name]
  }
  return undefined
}
