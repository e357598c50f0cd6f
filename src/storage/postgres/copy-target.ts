import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import { termsOfCopied } from '../common/completion-terms.ts'
import { assertNoViews } from '../copy/content.ts'
import { sequenceOf } from '../ports/completions.ts'
import type { CopiedRow, CopiedTable, CopyTarget, CopyWriter, LargeTexts } from '../ports/copy.ts'
import { termsArray } from './completion-search.ts'
import { type Connection, type Connections, openConnections } from './connection/connections.ts'
import { databaseLabel } from '../database-location.ts'
import { migrate, migrationLock, migrations, unfinishedCopy } from './connection/migrate.ts'
import { explainError } from './connection/privileges.ts'
import { contentOf, CopyInterruptedError, copyTimeoutMs, selectViews, sendForCopy } from './copy-source.ts'
import { Parameters } from './writer/statement.ts'

/** Any number, the same in every version of the program; the second part of the lock is the schema. */
const copyLock = 7_239_119

/** Opens a database to fill it with a copy; `tables` are those that must be empty. */
export function openCopyTarget(url: Secret, tables: readonly CopiedTable[], log: Log): CopyTarget {
  const label = databaseLabel(url)
  const connections = openConnections(url, 2)
  return {
    label,
    async fill(work) {
      try {
        return await connections.use((connection) =>
          withCopyLock(connection, label, async () => {
            await prepareEmpty(connections, { label, tables, log })
            const result = await connections.use(({ send }) => work(createWriter(sendForCopy(send, label))))
            await finish(connections, tables)
            return result
          }),
        )
      } catch (error) {
        throw error instanceof CopyInterruptedError ? error : await explainError(error, connections, label)
      }
    },
    close: () => connections.close(),
  }
}

/** Two copies into one database would mix. The lock is a transaction, so that it also works through a pooler. */
async function withCopyLock<T>(
  { send, lost }: Connection,
  label: string,
  work: () => Promise<T>,
): Promise<T> {
  await send('BEGIN')
  await send('SET LOCAL idle_in_transaction_session_timeout = 0')
  const { rows } = await send<{ readonly locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${copyLock}, hashtext(current_schema())) locked`,
  )
  if (rows[0]?.locked !== true) throw new Error(`Another weir copy is filling the database ${label}.`)
  const unlocked = lost.then(() => {
    throw new CopyInterruptedError(label)
  })
  unlocked.catch(() => {})
  const result = await Promise.race([work(), unlocked])
  await send('COMMIT')
  return result
}

type Target = { readonly label: string; readonly tables: readonly CopiedTable[]; readonly log: Log }

const createMark = `CREATE TABLE IF NOT EXISTS ${unfinishedCopy} (started_at timestamptz NOT NULL DEFAULT now())`

/** They mark a new database in the transaction that creates its tables: without the mark, a server would use it. */
const markingMigrations = migrations.map((migration, index) =>
  index === 0 ? `${createMark}--> statement-breakpoint${migration}` : migration,
)

/** Removes the mark of a copy that is complete: from now on, servers can use the database. */
const removeMark = `DROP TABLE ${unfinishedCopy}`

/**
 * Creates the tables and marks the database as an unfinished copy. Deletes what an interrupted copy has left; rejects with
 * an error for the operator if there is any other data.
 */
async function prepareEmpty(connections: Connections, target: Target): Promise<void> {
  await connections.use((connection) => removeInterrupted(connection, target))
  // A database with data must not even be migrated.
  await connections.use((connection) => assertEmpty(connection, target))
  await migrate(connections, target.label, markingMigrations, target.log)
  await connections.use(async (connection) => {
    const { send } = connection
    await send('BEGIN')
    // A server that starts now either sees the mark, or its data is seen here.
    await send(`SELECT pg_advisory_xact_lock(${migrationLock})`)
    await assertEmpty(connection, target)
    await send(createMark)
    await send('COMMIT')
  })
}

async function removeInterrupted({ send }: Connection, { label, tables, log }: Target): Promise<void> {
  const existing = await existingTables(send)
  if (!existing.has(unfinishedCopy)) return
  log.info(`The database ${label} has an interrupted copy, which is deleted.`)
  const names = tables.filter(({ name }) => existing.has(name)).map(({ name }) => quoted(name))
  await send('BEGIN')
  await send(`TRUNCATE ${names.join()} RESTART IDENTITY CASCADE`, [], copyTimeoutMs)
  await send(removeMark)
  await send('COMMIT')
}

async function assertEmpty({ send }: Connection, { label, tables }: Target): Promise<void> {
  assertNoViews(label, tables, (await send<{ readonly name: string }>(selectViews)).rows)
  const existing = await existingTables(send)
  const filled = tables.filter(({ name }) => existing.has(name))
  if (filled.length === 0) return
  const checks = filled.map(({ name }) => `(SELECT 1 FROM ${quoted(name)} LIMIT 1)`)
  const { rows } = await send(checks.join(' UNION ALL '))
  if (rows.length > 0)
    throw new Error(
      `The database ${label} is not empty, and weir copy does not replace data. Choose another database; or, to ` +
        'start over, stop its servers, drop it and create it again (dropdb, createdb).',
    )
}

async function existingTables(send: Connection['send']): Promise<ReadonlySet<string>> {
  const { rows } = await send<{ readonly tablename: string }>(
    'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()',
  )
  return new Set(rows.map(({ tablename }) => tablename))
}

function createWriter(send: Connection['send']): CopyWriter {
  return {
    ...contentOf(send),
    async insert(table, { rows, large }) {
      const hasLarge = Object.keys(large).length > 0
      if (hasLarge) await writePieces(send, large)
      const { text, values } = insertStatement(table, rows, large)
      await send(text, values, copyTimeoutMs)
      if (hasLarge) await send('DROP TABLE copied_pieces; COMMIT')
    },
  }
}

/** Begins a transaction with a table of pieces; appending them to the row would write all of its text each time. */
async function writePieces(send: Connection['send'], large: LargeTexts): Promise<void> {
  await send('BEGIN')
  // The transaction is idle while the other database reads.
  await send('SET LOCAL idle_in_transaction_session_timeout = 0')
  await send('CREATE UNLOGGED TABLE copied_pieces (n serial, "column" text NOT NULL, piece text NOT NULL)')
  for (const [column, pieces] of Object.entries(large))
    for await (const piece of pieces)
      await send(
        'INSERT INTO copied_pieces ("column", piece) VALUES ($1, $2)',
        [column, piece],
        copyTimeoutMs,
      )
}

function insertStatement(
  { name, columns }: CopiedTable,
  rows: readonly CopiedRow[],
  large: LargeTexts,
): { readonly text: string; readonly values: readonly unknown[] } {
  const parameters = new Parameters()
  const types = Object.fromEntries(columns.map((column) => [column.name, column.postgresType]))
  const list = columns.map((column) => quoted(column.name))
  const values = columns.map((column) => (column.name in large ? joined(column.name) : quoted(column.name)))
  if (name !== 'completions') {
    const input = parameters.table('input', types, rows)
    const text = `INSERT INTO ${quoted(name)} (${list.join()}) SELECT ${values.join()} FROM ${input} ORDER BY n`
    return { text, values: parameters.values }
  }
  const input = parameters.table('input', { ...types, terms: 'text' }, rows.map(toCompletion))
  const text = `INSERT INTO completions (${list.join()}, terms) SELECT ${values.join()}, terms::uuid[]
    FROM ${input} ORDER BY n`
  return { text, values: parameters.values }
}

function joined(column: string): string {
  return `(SELECT string_agg(piece, '' ORDER BY n) FROM copied_pieces WHERE "column" = '${column}')`
}

/** In SQLite, a completion may have a later sequence than its id says, because another one had it. */
function toCompletion(row: CopiedRow): CopiedRow {
  return {
    ...row,
    sequence: sequenceOf(String(row.id)) ?? row.sequence ?? null,
    terms: termsArray(termsOfCopied(row)),
  }
}

/** The planner of the server knows nothing about new tables until they are analyzed. */
async function finish(connections: Connections, tables: readonly CopiedTable[]): Promise<void> {
  const names = tables.map(({ name }) => quoted(name)).join()
  await connections.use(({ send }) => send(`ANALYZE ${names}`, [], copyTimeoutMs))
  await connections.use(({ send }) => send(removeMark))
}

/** Some columns have the names of keywords. */
function quoted(name: string): string {
  return `"${name}"`
}
