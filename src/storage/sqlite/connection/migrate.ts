import { Database as Sqlite } from 'bun:sqlite'
import { readdirSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { causeOf, type Log } from '../../../lib/log.ts'
import { createPrivateFile, moveIntoPlace } from '../../../lib/files.ts'
import { migrationsIn } from '../../migrations.ts' with { type: 'macro' }

/** The SQL of every migration, in order; its length is the newest schema. */
export const migrations = migrationsIn('drizzle')

/**
 * Migrates the database to the newest schema; its `user_version` is the number of applied migrations. Backs up an older
 * database first; throws if the schema is newer than this program.
 */
export function migrate(sqlite: Sqlite, migrations: readonly string[], log: Log): void {
  if (schemaVersion(sqlite, migrations) === migrations.length) return
  // Foreign keys cannot be disabled inside a transaction, and rebuilding a table would delete the rows that refer to it.
  sqlite.run('PRAGMA foreign_keys = OFF')
  const migrateNow = sqlite.transaction(() => {
    // Another process may have migrated while this one waited for the lock.
    const version = schemaVersion(sqlite, migrations)
    if (version < migrations.length) migrateFrom(version, sqlite, migrations, log)
    return version
  })
  const version = migrateNow.immediate()
  if (version === 0 || version === migrations.length) return
  log.info('The database was migrated.', { from: version, to: migrations.length })
  convertToAutoVacuum(sqlite, log)
}

/** A newer version has written the database; the message is for the operator. */
export class NewerSchemaError extends Error {}

/** Returns the number of applied migrations; throws an error for the operator if there are more than this program knows. */
export function schemaVersion(sqlite: Sqlite, migrations: readonly string[]): number {
  const version = numberFrom(sqlite, 'PRAGMA user_version')
  if (version > migrations.length)
    throw new NewerSchemaError(
      `The database ${sqlite.filename} was written by a newer version of weir (schema ${version}, this one ` +
        `supports ${migrations.length}). Run the newer version, or choose another data folder with --data.`,
    )
  return version
}

function numberFrom(sqlite: Sqlite, query: string): number {
  return Number(sqlite.prepare<unknown[], []>(query).values()[0]?.[0])
}

function migrateFrom(version: number, sqlite: Sqlite, migrations: readonly string[], log: Log): void {
  if (version === 0 && numberFrom(sqlite, 'SELECT count(*) FROM sqlite_schema') > 0)
    throw new Error(
      `The file ${sqlite.filename} is the database of another program. Choose another data folder with --data.`,
    )
  // Logged before, because both take long for a large database.
  if (version > 0)
    log.info('The database is being copied and migrated.', { from: version, to: migrations.length })
  const copy = version > 0 ? copyAside(sqlite.filename, version) : undefined
  try {
    for (const migration of migrations.slice(version)) runStatements(sqlite, migration)
    if (sqlite.prepare('PRAGMA foreign_key_check').all().length > 0)
      throw new Error(
        `The database ${sqlite.filename} could not be migrated: foreign keys would be violated.`,
      )
    sqlite.run(`PRAGMA user_version = ${migrations.length}`)
  } catch (error) {
    // The database is unchanged, so the copy is useless, and each further start would leave another one.
    if (copy !== undefined) rmSync(copy)
    throw error
  }
  if (copy !== undefined) log.info('The database was copied before its migration.', { schema: version, copy })
}

function runStatements(sqlite: Sqlite, migration: string): void {
  for (const statement of migration.split('--> statement-breakpoint')) sqlite.run(statement)
}

/** The copy has its name only when it is complete and on disk; incomplete ones of killed processes are removed. */
function copyAside(file: string, version: number): string {
  const copy = `${file}.schema-${version}-${new Date().toISOString().replace(/[:.]/g, '-')}`
  removeIncomplete(file)
  try {
    copyTo(copy + incomplete, file)
    moveIntoPlace(copy + incomplete, copy)
  } finally {
    removeIncomplete(file)
  }
  return copy
}

const incomplete = '.part'

/** Uses a second connection, because a connection cannot copy inside its own transaction; the lock excludes writers. */
function copyTo(copy: string, file: string): void {
  createPrivateFile(copy)
  const reader = new Sqlite(file, { readonly: true })
  try {
    reader.prepare('VACUUM INTO ?').run(copy)
  } finally {
    reader.close()
  }
}

function removeIncomplete(file: string): void {
  const prefix = `${basename(file)}.schema-`
  for (const name of readdirSync(dirname(file)))
    // SQLite appends to the name for its journal.
    if (name.startsWith(prefix) && name.includes(incomplete))
      rmSync(join(dirname(file), name), { force: true })
}

/** Lets a new file shrink later; a file that has tables would need a `VACUUM`. */
export function enableAutoVacuum(sqlite: Sqlite): void {
  if (numberFrom(sqlite, 'PRAGMA page_count') === 0) sqlite.run('PRAGMA auto_vacuum = INCREMENTAL')
}

/** Rewrites a file that cannot shrink, once; logs a warning if that fails. Must not run in a transaction. */
function convertToAutoVacuum(sqlite: Sqlite, log: Log): void {
  if (numberFrom(sqlite, 'PRAGMA auto_vacuum') !== 0) return
  try {
    sqlite.run('PRAGMA auto_vacuum = INCREMENTAL')
    sqlite.run('VACUUM')
    log.info('The database was rebuilt so that the space of deleted rows can be returned to the disk.')
  } catch (error) {
    log.warn('The database could not be rebuilt, so the space of deleted rows is not returned to the disk.', {
      cause: causeOf(error),
    })
  }
}
