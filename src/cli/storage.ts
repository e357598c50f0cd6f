import { join } from 'node:path'
import { findDataFolder } from '../config/paths.ts'
import { createLog } from '../lib/log.ts'
import { databaseName, openDatabase } from '../storage/database.ts'
import { createKeys, type Keys } from '../storage/keys.ts'
import { createOrganizations, type Organizations } from '../storage/organizations.ts'
import { type UsageQuestion, type UsageReport, usageReport } from '../storage/usage-report.ts'
import { createWriter } from '../storage/writer.ts'
import type { World } from './command.ts'

/** What commands read and change in the database, also while a server uses it. */
export type Storage = {
  readonly file: string
  readonly organizations: Organizations
  readonly keys: Keys
  usage(question: UsageQuestion): Promise<UsageReport>
}

/**
 * Opens the database for the work and closes it after. The settings file is not read: a mistake in it must not keep
 * an operator from revoking a key.
 */
export async function withStorage<T>(
  flags: { readonly data?: string },
  world: World,
  work: (storage: Storage) => Promise<T>,
): Promise<T> {
  const file = join(findDataFolder({ flags, ...world }), databaseName)
  const database = openDatabase(
    file,
    createLog((line) => world.err(line.trimEnd())),
  )
  const writer = createWriter(database)
  try {
    return await work({
      file,
      organizations: createOrganizations(database, writer),
      keys: createKeys(database, writer),
      usage: (question) => usageReport(database, question),
    })
  } finally {
    writer.close()
    database.close()
  }
}
