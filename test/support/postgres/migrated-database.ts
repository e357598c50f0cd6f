import { openTestDatabase } from './open-database.ts'
import { type PostgresServer, sharedPostgres } from './server.ts'

/** Each test file may have its own modules; all of them copy the same database, so that not each migrates its own. */
const run = globalThis as { weirTestMigrated?: Promise<string>; weirTestNext?: Promise<string> }

/** Creates a database with the newest schema and no rows on the shared server, and returns its URL. */
export async function createMigratedDatabase(): Promise<string> {
  const server = await sharedPostgres()
  const create = async () => await server.createDatabase(await migratedDatabase(server))
  const created = run.weirTestNext ?? create()
  // The next one is created while the test runs.
  run.weirTestNext = created.then(create)
  // The test that needs it reports the failure.
  run.weirTestNext.catch(() => {})
  return await created
}

function migratedDatabase(server: PostgresServer): Promise<string> {
  run.weirTestMigrated ??= migrateOne(server)
  return run.weirTestMigrated
}

async function migrateOne(server: PostgresServer): Promise<string> {
  const url = await server.createDatabase()
  await (await openTestDatabase(url)).close()
  return url
}
