import type { Database as Sqlite, Statement } from 'bun:sqlite'
import { type SQL, sql } from 'drizzle-orm'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import {
  type CompiledStatement,
  createCompile,
  type Dialect,
  type Script,
  type Template,
  type Value,
} from '../statement.ts'

/** Executes a script at once: part of the transaction that is open, if there is one. */
export type RunScript = <T>(script: Script<T>) => T

const dialect: Dialect = {
  // Transactions are executed one after the other.
  forUpdate: sql``,
  forShare: sql``,
  lockTotals: sql`select 1`,
  deleteLimits: () => sql`select 1`,
  skipLocked: sql``,
  isErasable: sql`true`,
  keyOrder: sql`api_keys.rowid`,
  asReference: (id) => sql`${id}`,
  // A range of a text would end at a null character.
  bytesOf: (text) => sql`cast(${text} as blob)`,
  isOneOf: (expression, list) => sql`${expression} in (select value from json_each(${list}))`,
  rowsOf: (list, name) => sql`json_each(${list}) as ${sql.identifier(name)}`,
}

const drizzle = new SQLiteSyncDialect()
/** The texts of statements are the same for every database. */
const compile = createCompile(dialect, (statement) => drizzle.sqlToQuery(statement))

/** The text of a statement that is prepared directly, because every request executes it; its values are written as `?`. */
export function textOf(statement: SQL): string {
  return drizzle.sqlToQuery(statement).sql
}

/** Returns a function that executes scripts in the database; it prepares each statement once. */
export function createRunScript(sqlite: Sqlite): RunScript {
  const prepared = new WeakMap<Template, Prepared>()

  function prepare(template: Template): Prepared {
    const { text, valuesOf } = compile(template)
    const statement = sqlite.prepare<never, SqliteValue[]>(text)
    const added = { statement, valuesOf }
    prepared.set(template, added)
    return added
  }

  return (script) => {
    let step = script.next([])
    while (!step.done) {
      const { statement: template, values } = step.value
      const { statement, valuesOf } = prepared.get(template) ?? prepare(template)
      step = script.next(statement.all(...valuesOf(values).map(toSqliteValue)))
    }
    return step.value
  }
}

type Prepared = {
  readonly statement: Statement<never, SqliteValue[]>
  readonly valuesOf: CompiledStatement['valuesOf']
}

type SqliteValue = string | number | bigint | boolean | null | Uint8Array

/** A list is JSON. */
function toSqliteValue(value: Value): SqliteValue {
  return value === null || typeof value !== 'object' || value instanceof Uint8Array
    ? value
    : JSON.stringify(value)
}
