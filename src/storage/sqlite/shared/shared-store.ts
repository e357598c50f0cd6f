import { ownOsProcess } from '../../common/os-process.ts'
import type { ProcessIdentity, SharedStore } from '../../ports/shared-store.ts'
import type { Database } from '../connection/database.ts'
import { createRunClaims } from '../responses/run-claims.ts'
import type { Writer } from '../writer/writer.ts'
import { createLimitLeases } from './limit-leases.ts'
import { openProcesses } from './processes.ts'

/** What this process shares with the others, but for what is written by the writer, until it leaves. */
export type OpenSharedStore = Pick<SharedStore, 'process' | 'processes'> & {
  /** Removes this process if the database is not locked: otherwise the others remove it later. */
  leave(): Promise<void>
}

/** Enters the processes of the database. */
export async function openSharedStore(
  { sqlite }: Database,
  process: ProcessIdentity,
): Promise<OpenSharedStore> {
  const processes = openProcesses(sqlite.filename)
  await processes.enter(process.id(), ownOsProcess()).catch((error) => {
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

/** What this process shares with the others, with what its writer does. */
export function createSharedStore(
  { process, processes }: OpenSharedStore,
  database: Database,
  writer: Writer,
  clock?: () => number,
): SharedStore {
  return {
    process,
    processes,
    runs: createRunClaims(database, writer),
    leases: createLimitLeases(database, writer, clock),
  }
}
