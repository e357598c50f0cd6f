import { onTestFinished } from 'bun:test'
import { join } from 'node:path'
import { silentLog } from '../../../../src/lib/log.ts'
import { copiedTables } from '../../../../src/storage/copy/copied-tables.ts'
import { copyDatabase } from '../../../../src/storage/copy/copy-database.ts'
import { openCopySource, openCopyTarget } from '../../../../src/storage/copy/copy-endpoints.ts'
import type { DatabaseLocation } from '../../../../src/storage/database-location.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { openTestDatabase } from '../../../support/postgres/open-database.ts'
import { sharedPostgres } from '../../../support/postgres/server.ts'
import { temporaryFolder } from './folder.ts'

/** Copies a database into an empty one. */
export async function copyAll(
  from: DatabaseLocation,
  to: DatabaseLocation,
  onProgress?: Parameters<typeof copyDatabase>[2],
) {
  const source = await openCopySource(from)
  const target = await openCopyTarget(to, silentLog)
  try {
    return await copyDatabase(source, target, onProgress)
  } finally {
    await target.close()
    await source.close()
  }
}

/** The rows of all copied tables of a SQLite file. */
export function contentOf(file: string): Record<string, unknown[]> {
  using opened = disposable(openDatabase(file, silentLog))
  const { sqlite } = opened.database
  const rowsOf = (name: string) => sqlite.query(`SELECT * FROM "${name}" ORDER BY 1, 2`).values()
  return Object.fromEntries(copiedTables.map(({ name }) => [name, rowsOf(name)]))
}

/** The path of a file that does not exist yet, in a folder of its own. */
export function sqliteFile(): string {
  return join(temporaryFolder(), 'weir.db')
}

/** The URL of a database without tables. */
export async function emptyPostgres(): Promise<string> {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  onTestFinished(() => server.dropDatabase(url))
  return url
}

/** The URL of a database with empty tables. */
export async function migratedPostgres(): Promise<string> {
  const url = await emptyPostgres()
  await (await openTestDatabase(url)).close()
  return url
}

/** Closes the database at the end of a block. */
export function disposable(database: ReturnType<typeof openDatabase>) {
  return { database, [Symbol.dispose]: () => database.close() }
}
