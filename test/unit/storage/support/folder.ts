import { onTestFinished } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../../../src/lib/log.ts'
import { type Database, openDatabase } from '../../../../src/storage/sqlite/connection/database.ts'
import { Writer } from '../../../../src/storage/sqlite/writer.ts'
import { createMigratedFile } from '../../../support/migrated-file.ts'

/** A temporary folder, removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-storage-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A database without rows in a new file, or that in the given one, closed after the test. */
export function testDatabase(
  file = createMigratedFile(temporaryFolder()),
): Database & { readonly file: string } {
  const database = openDatabase(file, silentLog)
  onTestFinished(() => database.close())
  return { ...database, file }
}

/** A database without rows with its writer. */
export function testStorage(): {
  database: Database & { readonly file: string }
  writer: Writer
} {
  const file = createMigratedFile(temporaryFolder())
  const database = openDatabase(file, silentLog)
  const writer = new Writer(database)
  onTestFinished(() => {
    // As a server does: it commits what waits, such as an erasure in the background.
    writer.close()
    database.close()
  })
  return { database: { ...database, file }, writer }
}

/** Starts a script, given by its path in `test`, in its own process. */
export function startScript(path: string, ...args: string[]) {
  const script = join(import.meta.dir, '../../..', path)
  return Bun.spawn([process.execPath, script, ...args], { stdout: 'pipe', stderr: 'pipe' })
}
