import { type Log } from '../../../lib/log.ts'
import type { NewKey } from '../../../storage/ports/keys.ts'
import { type DatabaseLocation, openStorage } from '../../../storage/open-storage.ts'
import { lockForWorkers } from '../../../storage/sqlite/connection/serving-lock.ts'

/** The database of all workers. */
export type WorkersDatabase = {
  /** The generated first key of a new database, to be shown once; undefined for WEIR_BOOTSTRAP_KEY. */
  readonly firstKey: NewKey | undefined
  release(): void
}

/**
 * Locks the SQLite file for the workers of this supervisor, migrates the database, and creates the first key. Then the
 * workers open it at the same time.
 */
export async function prepareDatabase(
  location: DatabaseLocation,
  bootstrapKey: string | undefined,
  log: Log,
): Promise<WorkersDatabase> {
  const lock = typeof location === 'string' ? lockForWorkers(location) : undefined
  try {
    const storage = await openStorage(location, log, { shared: true })
    try {
      const created = await storage.bootstrap(bootstrapKey)
      return { firstKey: bootstrapKey ? undefined : created, release: () => lock?.release() }
    } finally {
      await storage.close()
    }
  } catch (error) {
    lock?.release()
    throw error
  }
}
