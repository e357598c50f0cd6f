import type { Secret } from '../../../lib/secret.ts'
import { settleWithin } from '../../../lib/time.ts'
import { createQuery, openConnections } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { operatorError } from '../connection/privileges.ts'
import { createLeaseStore } from './lease-store.ts'
import { createLeasedLimits } from './leased-limits.ts'
import { ownOsProcess } from './os-process.ts'
import { createProcesses } from './processes.ts'

/** The processes of the database, of which this one is registered until it leaves. */
export type Cluster = Awaited<ReturnType<typeof joinCluster>>

const closeTimeoutMs = 2000

/**
 * Registers this process; rejects with an error for the operator. For `clock` see `StorageOptions`, for `timeoutMs`
 * `databaseTimeoutMs` there.
 */
export async function joinCluster(url: Secret, database: Database, clock?: () => number, timeoutMs?: number) {
  // The heartbeats have a connection of their own, so that a busy process is not evicted.
  const connections = openConnections(url, 1, { timeoutMs })
  const ofLimits = openConnections(url, 1, { keepIdle: true, timeoutMs })
  const renewLeases = createLeaseStore(ofLimits, { health: database.health, now: clock, timeoutMs })
  const processes = createProcesses(createQuery(connections))
  // The first request finds it open. If that fails now, it is tried again then.
  const opened = ofLimits.use(async () => {}).catch(() => {})
  await processes.register(database.process.id(), ownOsProcess()).catch(async (error) => {
    await opened
    await Promise.all([connections.close(), ofLimits.close()])
    throw operatorError(error, database.label)
  })
  await opened
  return {
    processes,
    limits: createLeasedLimits(renewLeases, database.process, { clock, renewalTimeoutMs: timeoutMs }),
    /** Removes this process as far as the database can be reached: otherwise the others evict it later. */
    async leave(): Promise<void> {
      await processes.deregister(database.process.id()).catch(() => {})
      await settleWithin(Promise.all([connections.close(), ofLimits.close()]), closeTimeoutMs)
    },
  }
}
