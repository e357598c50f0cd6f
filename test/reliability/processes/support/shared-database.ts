import { describe, onTestFinished } from 'bun:test'
import { Secret } from '../../../../src/lib/secret.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import type { DatabaseLocation } from '../../../../src/storage/database-location.ts'
import { openPostgresForAdmin } from '../../../../src/storage/postgres/open-postgres.ts'
import { createMigratedDatabase } from '../../../support/postgres/migrated-database.ts'
import { execute, hasPostgres, sharedPostgres } from '../../../support/postgres/server.ts'
import { testActor } from '../../../support/actor.ts'

/** An empty database that several processes can use, deleted after the test. */
export type SharedDatabase = {
  /** The URL. */
  readonly address: string
  readonly location: DatabaseLocation
  rows(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** What uses the database until the test ends, and is ended before it is deleted. */
  readonly users: Set<AsyncDisposable>
  /** Makes the organization of the first key prepaid, with this balance; a process must have created it. */
  fund(balance: bigint): Promise<void>
}

/** Defines tests of processes that share a database. */
export function testSharedDatabases(define: (create: () => Promise<SharedDatabase>) => void): void {
  describe.skipIf(!hasPostgres)('on one PostgreSQL database', () => define(createPostgresDatabase))
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
    async fund(balance) {
      const { organizations, close } = await openPostgresForAdmin(new Secret(address), silentLog, testActor)
      await organizations.change('default', { billing: 'prepaid' })
      await organizations.credit('default', balance)
      await close()
    },
  }
}

async function disposeAll(users: ReadonlySet<AsyncDisposable>): Promise<void> {
  for (const user of users) await user[Symbol.asyncDispose]()
}
