import { describe, onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../../../../src/lib/secret.ts'
import type { DatabaseLocation } from '../../../../src/storage/open-storage.ts'
import type { Organizations } from '../../../../src/storage/ports/organizations.ts'
import { openPostgresForAdmin } from '../../../../src/storage/postgres/open-postgres.ts'
import { openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { createOrganizations } from '../../../../src/storage/sqlite/organizations/organizations.ts'
import { createWriter } from '../../../../src/storage/sqlite/writer/writer.ts'
import { createMigratedDatabase } from '../../../support/postgres/migrated-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../../support/postgres/server.ts'
import { quietLog } from '../../../unit/storage/support/folder.ts'

/** An empty database that several processes can use, deleted after the test. */
export type SharedDatabase = {
  /** The path or the URL. */
  readonly address: string
  readonly location: DatabaseLocation
  rows(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Whether another process could write now: a suspended one may hold the lock of a file. */
  isWritable(): boolean
  /** What uses the database until the test ends, and is ended before it is deleted. */
  readonly users: Set<AsyncDisposable>
  /** Makes the organization of the first key prepaid, with this balance; a process must have created it. */
  fund(balance: bigint): Promise<void>
}

/** Defines the same tests for every store that processes can share. */
export function testSharedDatabases(define: (create: () => Promise<SharedDatabase>) => void): void {
  describe('on one SQLite file', () => define(createSqliteFile))
  describe.skipIf(!hasPostgres)('on one PostgreSQL database', () => define(createPostgresDatabase))
}

async function createSqliteFile(): Promise<SharedDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-shared-'))
  const file = join(folder, 'weir.db')
  const database = openDatabase(file, quietLog)
  const writer = createWriter(database)
  const users = new Set<AsyncDisposable>()
  onTestFinished(async () => {
    await disposeAll(users)
    writer.close()
    database.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    users,
    address: file,
    location: file,
    rows: async (text) => database.sqlite.query<Record<string, unknown>, []>(text).all(),
    isWritable() {
      try {
        database.sqlite.run('BEGIN IMMEDIATE')
      } catch {
        return false
      }
      database.sqlite.run('ROLLBACK')
      return true
    },
    fund: (balance) => fund(createOrganizations(database, writer), balance),
  }
}

/** Creates an empty PostgreSQL database. */
export async function createPostgresDatabase(): Promise<SharedDatabase> {
  const server = await sharedPostgres()
  const address = await createMigratedDatabase()
  const users = new Set<AsyncDisposable>()
  onTestFinished(async () => {
    await disposeAll(users)
    await server.dropDatabase(address)
  })
  return {
    users,
    address,
    location: new Secret(address),
    rows: (text) => execute<Record<string, unknown>>(address, text),
    isWritable: () => true,
    async fund(balance) {
      const { organizations, close } = await openPostgresForAdmin(new Secret(address), quietLog)
      await fund(organizations, balance)
      await close()
    },
  }
}

/** Suspends the process at a moment when it holds no lock of the database: nothing could be settled until it continues. */
export async function suspend(pid: number, database: Pick<SharedDatabase, 'isWritable'>): Promise<void> {
  for (const deadline = performance.now() + 1000; ;) {
    process.kill(pid, 'SIGSTOP')
    if (database.isWritable()) return
    process.kill(pid, 'SIGCONT')
    if (performance.now() > deadline) throw new Error('The database is locked.')
    await Bun.sleep(5)
  }
}

async function disposeAll(users: ReadonlySet<AsyncDisposable>): Promise<void> {
  for (const user of users) await user[Symbol.asyncDispose]()
}

async function fund(organizations: Organizations, balance: bigint): Promise<void> {
  await organizations.change('default', { billing: 'prepaid' })
  await organizations.credit('default', balance)
}
