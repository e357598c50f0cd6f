import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../../../src/lib/log.ts'
import { type Database, openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { createWriter, type Writer } from '../../../../src/storage/sqlite/writer/writer.ts'

/** A folder that goes with the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-storage-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A new database in a file, or in the given one, closed after the test. */
export function testDatabase(
  file = join(temporaryFolder(), 'weir.db'),
): Database & { readonly file: string } {
  const database = openDatabase(file, quietLog)
  onTestFinished(() => database.close())
  return { ...database, file }
}

/** A new database with its writer. */
export function testStorage(): { database: Database & { readonly file: string }; writer: Writer } {
  const database = testDatabase()
  const writer = createWriter(database)
  onTestFinished(() => writer.close())
  return { database, writer }
}

/** A log that nobody reads. */
export const quietLog = createLog(() => {})

/** Starts a script of test/reliability/storage/support as a process of its own. */
export function startScript(name: string, ...args: string[]) {
  const script = join(import.meta.dir, '../../../reliability/storage/support', name)
  return Bun.spawn([process.execPath, script, ...args], { stdout: 'pipe', stderr: 'pipe' })
}
