import { Secret } from '../../../src/lib/secret.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { type Database, openDatabase } from '../../../src/storage/postgres/connection/database.ts'

/** The milliseconds that a test waits for a statement whose deadline it does not test: a busy machine stands still for seconds. */
export const patientTimeoutMs = 30_000

/** Opens the database with this URL, and migrates it if necessary. */
export async function openTestDatabase(url: string): Promise<Database> {
  return await openDatabase(new Secret(url), silentLog, { timeoutMs: patientTimeoutMs })
}
