import type { ProcessIdentity, SharedStore } from '../../ports/shared-store.ts'
import type { Database } from '../connection/database.ts'
import { openProcesses } from './processes.ts'

/** What this process shares with the others, until it leaves. */
export type OpenSharedStore = SharedStore & {
  /** Removes this process if the database is not locked: otherwise the others remove it later. */
  leave(): Promise<void>
}

/** Enters the processes of the database. */
export async function openSharedStore(
  { sqlite }: Database,
  process: ProcessIdentity,
): Promise<OpenSharedStore> {
  const processes = openProcesses(sqlite.filename)
  await processes.enter(process.id()).catch((error) => {
    processes.close()
    throw error
  })
  return {
    process,
    processes,
    async leave() {
      await processes.leave(process.id()).catch(() => {})
      processes.close()
    },
  }
}
