import type { Log } from '../../../lib/log.ts'
import { quoted } from '../../common/copy-query.ts'
import type { CopiedTable } from '../../ports/copy.ts'
import { type Connection, type Connections } from '../connection/connections.ts'
import { migrate, migrationLock, unfinishedCopy } from '../connection/migrate.ts'
import { migrations } from '../connection/migrations.ts'
import { copyTimeoutMs } from './copy-source.ts'

type Target = { readonly label: string; readonly tables: readonly CopiedTable[]; readonly log: Log }

/** Removes the mark of a copy that is complete: from now on, servers can use the database. */
export const removeMark = `DROP TABLE ${unfinishedCopy}`

/**
 * Creates the tables and marks the database as an unfinished copy. Deletes what an interrupted copy has left; rejects with
 * an error for the operator if there is any other data.
 */
export async function prepareEmpty(connections: Connections, target: Target): Promise<void> {
  await connections.use((connection) => removeInterrupted(connection, target))
  // A database with data must not even be migrated.
  await connections.use((connection) => assertEmpty(connection, target))
  await migrate(connections, target.label, migrations, target.log)
  await connections.use(async (connection) => {
    const { send } = connection
    await send('BEGIN')
    // A server that starts now either sees the mark, or its data is seen here.
    await send(`SELECT pg_advisory_xact_lock(${migrationLock})`)
    await assertEmpty(connection, target)
    await send(`CREATE TABLE ${unfinishedCopy} (started_at timestamptz NOT NULL DEFAULT now())`)
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
