import { onAbort, withAbort } from '../../../lib/abort.ts'
import type { Log } from '../../../lib/log.ts'
import { wait } from '../../../lib/time.ts'
import { migrationsIn } from '../../migrations.ts' with { type: 'macro' }
import { isConnectionLost, isRepeatable } from '../postgres-errors.ts'
import type { Connection, Connections } from './connections.ts'

/** The SQL of every migration, in order; its length is the newest schema. */
export const migrations = migrationsIn('drizzle/postgres')

/** Any number, the same in every version of the program: the advisory lock under which one process migrates. */
export const migrationLock = 7_239_117_203
/**
 * Another advisory lock: every transaction of every server shares it, and a migration holds it alone. So a migration never
 * waits for a transaction that has one of its tables and waits for another, which repeats forever under load.
 */
export const schemaLock = 7_239_117_204
/** The time for one statement of a migration, and to wait for the migration of another process. */
const migrationTimeoutMs = 60 * 60_000

/** A table that exists while `weir copy` fills the database: what is there may be a part of the data. */
export const unfinishedCopy = 'unfinished_copy'

/** The connection was lost during a migration, which may be complete or not; the message is for the operator. */
export class MigrationInterruptedError extends Error {
  constructor(name: string, cause: unknown) {
    super(
      `The connection to the database ${name} was lost while it was migrated. Try again: an incomplete migration has ` +
        'changed nothing.',
      { cause },
    )
  }
}

/**
 * A migration waits this long for the lock of a table, because what other servers do with the table waits behind it; then
 * it is rolled back, and tried again after the interval.
 */
const lockTimeoutMs = 500
const lockIntervalMs = 1000
/** For what locks the table, such as `pg_dump`, to end. */
const lockedTimeoutMs = 10 * 60_000

/**
 * Migrates the database to the newest schema in one transaction, while other starts wait, and servers that run already are
 * served. Throws if the schema is newer than this program, or if the database belongs to another program. Rejects with the
 * reason of `stopping` once that aborts; the server rolls back what was not committed.
 */
export async function migrate(
  connections: Connections,
  name: string,
  migrations: readonly string[],
  log: Log,
  stopping: AbortSignal = new AbortController().signal,
): Promise<void> {
  if ((await connections.use(schemaVersion(name, migrations))) === migrations.length) return
  const migrateNow = migrateOnce(name, migrations)
  const attempt = () =>
    connections.use(async (connection) => {
      const stopListening = onAbort(stopping, connection.abort)
      const migrating = migrateNow(connection).catch((error) => {
        throw isConnectionLost(error) ? new MigrationInterruptedError(name, error) : error
      })
      return await withAbort(migrating, stopping).finally(stopListening)
    })
  const version = await whenUnlocked(name, attempt, stopping)
  if (version > 0 && version < migrations.length)
    log.info('The database was migrated.', { from: version, to: migrations.length })
}

/** Returns a function that resolves with the version before the migration; rejects if a table is locked. */
function migrateOnce(name: string, migrations: readonly string[]) {
  return async (connection: Connection): Promise<number> => {
    const run = (text: string) => connection.send(text, [], migrationTimeoutMs)
    await run('BEGIN')
    await run(`SELECT pg_advisory_xact_lock(${migrationLock})`)
    await run(`SET LOCAL lock_timeout = ${lockTimeoutMs}`)
    await run(`SELECT pg_advisory_xact_lock(${schemaLock})`)
    // Another process may have migrated while this one waited for the lock.
    const version = await schemaVersion(name, migrations)(connection)
    if (version < migrations.length) await migrateFrom(version, name, migrations, run)
    await run('COMMIT')
    return version
  }
}

async function whenUnlocked<T>(
  name: string,
  migrateNow: () => Promise<T>,
  stopping: AbortSignal,
): Promise<T> {
  for (const deadline = performance.now() + lockedTimeoutMs; ;) {
    try {
      return await migrateNow()
    } catch (error) {
      if (!isRepeatable(error)) throw error
      if (performance.now() > deadline)
        throw new Error(
          `The database ${name} cannot be migrated, because another transaction locks its tables. Try again when that has ended.`,
          { cause: error },
        )
    }
    await wait(lockIntervalMs, stopping)
  }
}

/**
 * Returns a function that reads the number of applied migrations; it throws an error for the operator if there are more
 * than this program knows, or if the database is an unfinished copy.
 */
export function schemaVersion(name: string, migrations: readonly string[]) {
  return async ({ send }: Connection): Promise<number> => {
    const { rows: tables } = await send<{ readonly tablename: string }>(
      'SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ' +
        `AND tablename IN ('schema_version', '${unfinishedCopy}')`,
    )
    if (tables.length === 0) return 0
    if (tables.some(({ tablename }) => tablename === unfinishedCopy)) throw unfinishedCopyError(name)
    const { rows } = await send<{ readonly version: number }>('SELECT version FROM schema_version')
    const version = Number(rows[0]?.version ?? 0)
    if (version > migrations.length)
      throw new Error(
        `The database ${name} was written by a newer version of weir (schema ${version}, this one supports ` +
          `${migrations.length}). Run the newer version, or choose another database.`,
      )
    return version
  }
}

function unfinishedCopyError(name: string): Error {
  return new Error(
    `The database ${name} has an unfinished copy. Wait until weir copy has ended; if it was interrupted, run it again.`,
  )
}

async function migrateFrom(
  version: number,
  name: string,
  migrations: readonly string[],
  run: (text: string) => Promise<{ readonly rows: readonly unknown[] }>,
): Promise<void> {
  if (version === 0) {
    const { rows } = await run('SELECT 1 FROM pg_tables WHERE schemaname = current_schema() LIMIT 1')
    if (rows.length > 0)
      throw new Error(
        `The database ${name} has tables of another program. Choose an empty database, or a schema of its own.`,
      )
    await run('CREATE TABLE schema_version (version integer NOT NULL)')
    await run('INSERT INTO schema_version (version) VALUES (0)')
  }
  for (const migration of migrations.slice(version))
    for (const statement of migration.split('--> statement-breakpoint')) await run(statement)
  await run(`UPDATE schema_version SET version = ${migrations.length}`)
}
