import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLog } from '../../src/lib/log.ts'
import { openDatabase } from '../../src/storage/sqlite/connection/database.ts'

/** Test files may have modules of their own; all of them copy the same database, so that not each migrates its own. */
const run = globalThis as { weirTestMigratedBytes?: Buffer }

/** Creates a SQLite file with the newest schema and without rows in a folder, and returns its path. */
export function createMigratedFile(folder: string): string {
  const file = join(folder, 'weir.db')
  writeFileSync(file, (run.weirTestMigratedBytes ??= migratedBytes()), { mode: 0o600 })
  return file
}

function migratedBytes(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'weir-migrated-'))
  const file = join(folder, 'weir.db')
  try {
    openDatabase(file, silentLog).close()
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
