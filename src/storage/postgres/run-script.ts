import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { rate_limit_buckets, response_erasures } from '../schema/postgres.ts'
import { responses } from '../schema/stored.ts'
import { createCompile, type Dialect, type Script, type ScriptRunner } from '../statement.ts'
import { lockTotalsText } from './usage-locks.ts'
import { type Query, serverTime } from './connection/connections.ts'
import { subtractSums } from './usage-totals.ts'
import type { Transact } from './writer/transaction.ts'

const dialect: Dialect = {
  forUpdate: sql`for no key update`,
  forShare: sql`for share`,
  lockTotals: sql.raw(lockTotalsText) as SQL<object>,
  deleteLimits: (organization) =>
    sql`delete from ${rate_limit_buckets} where ${rate_limit_buckets.organization_id} = ${organization}`,
  skipLocked: sql`skip locked`,
  isErasable: sql`not exists (select from ${response_erasures}
    where ${response_erasures.response_id} = ${responses.id} and ${response_erasures.not_before} > ${sql.raw(serverTime)})`,
  keyOrder: sql`api_keys.position`,
  asReference: (id) => sql`${id} collate "default"`,
  bytesOf: (text) => sql`convert_to(${text}, 'UTF8')`,
  isOneOf: (expression, list) => sql`${expression} = any(${list})`,
  rowsOf: (list, name) =>
    sql`unnest(${list}::text[]) with ordinality as ${sql.identifier(name)} (value, key)`,
}

/** Executes the statements of a script with this query, one after the other. */
export async function runScript<T>(query: Query, script: Script<T>): Promise<T> {
  let step = script.next([])
  while (!step.done) {
    const { statement, values } = step.value
    const { text, valuesOf } = compile(statement)
    step = script.next(await query<never>(text, valuesOf(values)))
  }
  return step.value
}

/** Executes scripts in the database: reads with the query, the others in transactions. */
export function createScriptRunner({ query, transact }: { query: Query; transact: Transact }): ScriptRunner {
  return {
    transact: (script) => transact((query) => runScript(query, script())),
    write: (script) => runScript(query, script()),
    read: (script) => runScript(query, script()),
    subtractSums,
  }
}

const postgres = new PgDialect()
/** The texts of statements are the same for every database. */
const compile = createCompile(dialect, (statement) => postgres.sqlToQuery(statement))
