import { and, Column, eq, getTableColumns, is, type SQL, sql, type Table } from 'drizzle-orm'
import type { PageQuery } from './ports/listed-pages.ts'
import { type Parameters, type Statement, statement, type Value } from './statement.ts'

type Selected = Column | SQL

/** A row of a select, by the names of its fields. SQLite has 0 and 1 instead of booleans. */
export type RowOf<Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Column
    ? DataOf<Fields[Name]>
    : Fields[Name] extends SQL<infer Data>
      ? Data
      : never
}

type DataOf<C extends Column> = C['_']['notNull'] extends true
  ? Stored<C['_']['data']>
  : Stored<C['_']['data']> | null

type Stored<Data> = [Data] extends [boolean] ? boolean | 0 | 1 : Data

/** Selects expressions under names of their own: `select({ id: keys.public_id }, sql`from …`)`. */
export function select<Fields extends Readonly<Record<string, Selected>>>(
  fields: Fields,
  rest: SQL,
): SQL<RowOf<Fields>> {
  return sql`select ${fieldList(fields)} ${rest}`
}

/** Returns expressions of the rows that a statement has changed; `condition` is what precedes `returning`. */
export function returning<Fields extends Readonly<Record<string, Selected>>>(
  fields: Fields,
  condition = sql``,
): SQL<RowOf<Fields>> {
  return sql`${condition} returning ${fieldList(fields)}`
}

function fieldList(fields: Readonly<Record<string, Selected>>): SQL {
  return sql.join(
    Object.entries(fields).map(([name, field]) => sql`${field} as ${sql.identifier(name)}`),
    sql`, `,
  )
}

/** A column of a table that may have no row, as in a left join. */
export function nullable<C extends Column>(column: C): SQL<C['_']['data'] | null> {
  return sql`${column}`
}

type ValuesOf<T extends Table> = { readonly [Name in keyof T['_']['columns']]?: SQL | string | number | null }

/** Inserts a row; `rest` follows the values, such as `on conflict do nothing`. */
export function insertInto<T extends Table>(table: T, values: ValuesOf<T>, rest?: SQL<never>): SQL<never>
export function insertInto<T extends Table, Row>(table: T, values: ValuesOf<T>, rest: SQL<Row>): SQL<Row>
export function insertInto<T extends Table>(table: T, values: ValuesOf<T>, rest = sql``): SQL {
  const entries = Object.entries(values)
  const names = entries.map(([name]) => bare(columnOf(table, name)))
  const inserted = entries.map(([, value]) => sql`${value}`)
  return sql`insert into ${table} (${sql.join(names, sql`, `)}) values (${sql.join(inserted, sql`, `)}) ${rest}`
}

type ColumnsOf<T extends Table> = T['_']['columns']

/** The values of columns as statements receive them. */
export type Inserted<T extends Table, Name extends keyof ColumnsOf<T>> = {
  readonly [Key in Name]: Received<DataOf<ColumnsOf<T>[Key]>>
}

type Received<Data> = Data extends number ? number | bigint : Data extends Uint8Array ? Uint8Array : Data

/** Defines a statement that inserts a row: its values have the names of these columns. */
export function insertion<T extends Table, Name extends keyof ColumnsOf<T> & string, Row = never>(
  table: T,
  names: readonly Name[],
  rest?: SQL<Row>,
): Statement<Row, Inserted<T, Name>> {
  const define = (values: Parameters<Readonly<Record<string, Value>>>) =>
    insertInto(table, pick(values, names) as ValuesOf<T>, rest as SQL<Row>)
  return statement(define) as unknown as Statement<Row, Inserted<T, Name>>
}

/** The fields of an object with these names. */
export function pick<Source, Name extends keyof Source>(
  source: Source,
  names: readonly Name[],
): Pick<Source, Name> {
  return Object.fromEntries(names.map((name) => [name, source[name]])) as Pick<Source, Name>
}

/** Updates rows; `rest` follows the assignments, such as the condition. */
export function update<T extends Table, Row = never>(
  table: T,
  values: ValuesOf<T>,
  rest: SQL<Row>,
): SQL<Row> {
  const assignments = Object.entries(values).map(
    ([name, value]) => sql`${bare(columnOf(table, name))} = ${value}`,
  )
  return sql`update ${table} set ${sql.join(assignments, sql`, `)} ${rest}`
}

/** The condition of a statement: all of these that are there, if any. */
export function where(...conditions: readonly (SQL | undefined)[]): SQL {
  const all = and(...conditions)
  return all === undefined ? sql`` : sql`where ${all}`
}

/** The end of a select of a page: the rows that meet these conditions and follow this place, one more than it has. */
export function pageBy(
  key: Column | SQL,
  place: string | number | undefined,
  { order, limit }: PageQuery,
  conditions: readonly (SQL | undefined)[],
): SQL {
  const follows = order === 'asc' ? sql`>` : sql`<`
  const isBeyond = place === undefined ? undefined : sql`${key} ${follows} ${place}`
  return sql`${where(...conditions, isBeyond)} order by ${key} ${sql.raw(order)} limit ${limit + 1}`
}

/** Whether a column has the value of a filter, if that is there. */
export function ifEqual(column: Column, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : eq(column, value)
}

/** Whether one of these columns contains the text, in upper or lower case: a text of its own, not a pattern. */
export function containsText(columns: readonly Column[], text: string): SQL {
  const pattern = `%${text.replace(/[!%_]/g, '!$&')}%`
  const matches = columns.map((column) => sql`lower(${column}) like lower(${pattern}) escape '!'`)
  return sql`(${sql.join(matches, sql` or `)})`
}

/** The name of a column without its table, where SQL wants it so: in the columns of an insert, a conflict, an index. */
export function bare(column: Column): SQL {
  return sql`${sql.identifier(column.name)}`
}

function columnOf(table: Table, name: string): Column {
  const column: unknown = (getTableColumns(table) as Readonly<Record<string, unknown>>)[name]
  if (!is(column, Column)) throw new Error(`The table has no column ${name}.`)
  return column
}
