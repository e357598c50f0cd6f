import { Placeholder, type SQL, sql, type SQLWrapper } from 'drizzle-orm'

/** A value of a statement. A list of values is one value. */
export type Value =
  string | number | bigint | boolean | null | Uint8Array | readonly string[] | readonly number[]

/** The values of a statement as it refers to them. */
export type Parameters<Values> = { readonly [Name in keyof Values]: SQL<Values[Name]> }

/** The fragments of SQL that the two databases write differently. */
export type Dialect = {
  /** At the end of a select: keeps other transactions from changing its rows until the end of this one. */
  readonly forUpdate: SQL
  /** The same, but only keeps them from being changed. */
  readonly forShare: SQL
  /** Waits until no other transaction changes the totals of usage, and keeps others from doing so until the end of this one. */
  readonly lockTotals: SQL<object>
  /** Deletes what an organization has spent of its rate limits, where the database has that. */
  deleteLimits(organization: SQLWrapper): SQL<object>
  /** After one of the locks: omits the rows that another transaction has locked. */
  readonly skipLocked: SQL
  /** Whether no process of the database still needs a response that is to be erased. */
  readonly isErasable: SQL
  /** The order in which API keys were created. */
  readonly keyOrder: SQL<number>
  /** An id in the collation of the columns that refer to it, whose indexes PostgreSQL does not use otherwise. */
  asReference(id: SQLWrapper): SQL
  /** The UTF-8 bytes of a text. */
  bytesOf(text: SQLWrapper): SQL
  /** Whether the expression is one of the values of a list. */
  isOneOf(expression: SQLWrapper, list: SQL<readonly unknown[]>): SQL
  /** A list as a table of this name, with the columns `key`, the position, and `value`. */
  rowsOf(list: SQL<readonly string[]>, name: string): SQL
}

/** A statement that a script executes, with its values. */
export type Call = { readonly statement: Template; readonly values: Readonly<Record<string, Value>> }

/** Compiled once for each dialect. */
export type Template = { build(dialect: Dialect): SQL }

/**
 * A transaction, or a part of one, as a generator: it yields statements and receives their rows. It has no driver, so that
 * both databases execute it, and does nothing else: a transaction that failed because of another one is executed again.
 */
export type Script<T> = Generator<Call, T, readonly never[]>

/** Executes a statement within a script, and returns its rows. */
export type Statement<Row, Values> = Template &
  ((...values: keyof Values extends never ? [] : [values: Values]) => Script<readonly Row[]>)

/** Defines a statement by SQL that is built from the columns of the tables, and from its values. */
export function statement<Row, Values extends Readonly<Record<keyof Values, Value>> = Record<never, never>>(
  define: (values: Parameters<Values>, dialect: Dialect) => SQL<Row>,
): Statement<Row, Values> {
  const template: Template = { build: (dialect) => define(placeholders as Parameters<Values>, dialect) }
  function* execute(values: Readonly<Record<string, Value>> = noValues): Script<readonly Row[]> {
    return yield { statement: template, values }
  }
  return Object.assign(execute, template) as Statement<Row, Values>
}

const noValues = {}

/** Has a placeholder for each name. */
const placeholders = new Proxy({}, { get: (_, name) => sql`${sql.placeholder(String(name))}` })

/** Executes a statement that differs from call to call, such as one with filters, within a script: it is not kept. */
export function* execute<Row>(build: (dialect: Dialect) => SQL<Row>): Script<readonly Row[]> {
  return yield { statement: { build }, values: noValues }
}

/** A statement as a database receives it. */
export type CompiledStatement = {
  readonly text: string
  /** The values in the order of the text. */
  valuesOf(values: Readonly<Record<string, Value>>): Value[]
}

/** Returns a function that compiles statements, each of them once; `toQuery` is that of the database. */
export function createCompile(
  dialect: Dialect,
  toQuery: (sql: SQL) => { readonly sql: string; readonly params: readonly unknown[] },
): (template: Template) => CompiledStatement {
  const compiled = new WeakMap<Template, CompiledStatement>()
  function compile(template: Template): CompiledStatement {
    const { sql: text, params } = toQuery(template.build(dialect))
    const statement: CompiledStatement = {
      text,
      valuesOf: (values) =>
        params.map((param) =>
          param instanceof Placeholder ? valueOf(values, param.name) : (param as Value),
        ),
    }
    compiled.set(template, statement)
    return statement
  }
  return (template) => compiled.get(template) ?? compile(template)
}

function valueOf(values: Readonly<Record<string, Value>>, name: string): Value {
  const value = values[name]
  if (value === undefined) throw new Error(`The statement has no value ${name}.`)
  return value
}

/** Executes scripts in a database. */
export type ScriptRunner = {
  /** Executes the script in a transaction, and resolves with its value when that is durable. */
  transact<T>(script: () => Script<T>): Promise<T>
  /** Executes a script of one statement, which may be executed twice, and resolves when its changes are durable. */
  write<T>(script: () => Script<T>): Promise<T>
  /** Executes a script that only reads; each of its statements sees the database as it is by then. */
  read<T>(script: () => Script<T>): Promise<T>
  readonly subtractSums: SubtractSums
}

/**
 * Part of a transaction that has the totals locked: subtracts the rows of `usage` of an organization in a range, which are
 * about to be deleted, from the sums. The databases do this differently.
 */
export type SubtractSums = (organization: string, after: RowKey, end: RowKey) => Script<void>

/** The time and the id of a row; the time is 0 in tables that are sorted only by id. */
export type RowKey = { readonly time: number; readonly id: string }
