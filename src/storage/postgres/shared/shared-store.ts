import type { Secret } from '../../../lib/secret.ts'
import { settleWithin } from '../../../lib/time.ts'
import type { SharedStore } from '../../ports/shared-store.ts'
import { ownOsProcess } from '../../common/os-process.ts'
import { createQuery, openConnections } from '../connection/connections.ts'
import { type Database, operatorError } from '../connection/database.ts'
import { createLeaseStore } from '../cluster/lease-store.ts'
import { createLeasedLimits, type LeasedLimits } from '../cluster/leased-limits.ts'
import { createRunClaims } from '../responses/run-claims.ts'
import { createProcesses } from './processes.ts'

/** What this process shares with the others, until it leaves. */
export type OpenSharedStore = SharedStore & {
  readonly limits: LeasedLimits
  /** Removes this process as far as the database can be reached: otherwise the others remove it later. */
  leave(): Promise<void>
}

const closeTimeoutMs = 2000

/**
 * Enters the processes of the database; rejects with an error for the operator. For `clock` see `StorageOptions`;
 * `timeoutMs` replaces the time to wait for a connection and a statement of the rate limits.
 */
export async function openSharedStore(
  url: Secret,
  database: Database,
  clock?: () => number,
  timeoutMs?: number,
): Promise<OpenSharedStore> {
  // The beats have a connection of their own, so that a busy process is not taken for a dead one.
  const connections = openConnections(url, 1)
  const ofLimits = openConnections(url, 1, { keepIdle: true, timeoutMs })
  const renewLeases = createLeaseStore(ofLimits, { health: database.health, now: clock, timeoutMs })
  const shared = {
    process: database.process,
    processes: createProcesses(createQuery(connections)),
    runs: createRunClaims(database.query, database.transact),
    limits: createLeasedLimits(renewLeases, database.process, { clock }),
  }
  // The first request finds it open. If that fails now, it is tried again then.
  const opened = ofLimits.use(async () => {}).catch(() => {})
  await shared.processes.enter(shared.process.id(), ownOsProcess()).catch(async (error) => {
    await opened
    await Promise.all([connections.close(), ofLimits.close()])
    throw operatorError(error, database.label)
  })
  await opened
  return {
    ...shared,
    async leave() {
      await shared.processes.leave(shared.process.id()).catch(() => {})
      await settleWithin(Promise.all([connections.close(), ofLimits.close()]), closeTimeoutMs)
    },
  }
}
