import type { Log } from '../../lib/log.ts'
import { CachedKeys } from '../key-directory.ts'
import type { Storage, UsageUpkeep } from '../ports/storage.ts'
import { createCompletions } from '../scripts/completions.ts'
import { bootstrap, createKeys, findKnownKey } from '../scripts/keys.ts'
import { createProviderState } from '../scripts/provider-state.ts'
import { createProcessIdentity } from '../common/process-identity.ts'
import { createLedger } from './billing/ledger.ts'
import { completionSearch } from './completion-search.ts'
import { prepareUsageExpiry } from './billing/usage.ts'
import { type Database, inMemory, openDatabase } from './connection/database.ts'
import { createSpaceReturn } from './connection/free-space.ts'
import { lockForServing } from './connection/serving-lock.ts'
import { limitWalSize } from './connection/wal-size.ts'
import { createHealth } from './health/health.ts'
import { createReadiness } from './health/readiness.ts'
import { createOrganizationDeletions } from './organizations/organization-deletion.ts'
import { createOrganizations } from './organizations/organizations.ts'
import { createResponses } from './responses/responses.ts'
import { createScriptRunner } from './run-script.ts'
import { createSharedStore, openSharedStore, type OpenSharedStore } from './shared/shared-store.ts'
import { outageMessage } from './sqlite-errors.ts'
import { createUsageBuckets } from './usage/buckets.ts'
import { createRollup } from './usage/rollup.ts'
import { createWriter, type Writer } from './writer/writer.ts'

/**
 * Opens the file or `:memory:`, and creates or migrates it if necessary; throws if another server uses it. For
 * `lockTimeoutMs` see `StorageOptions`.
 */
export function openSqlite(file: string, log: Log, lockTimeoutMs?: number): Storage {
  const lock = file === inMemory ? undefined : lockForServing(file)
  const sharing = { shared: undefined, close: () => lock?.release() }
  return assemble(openDatabase(file, log), log, sharing, lockTimeoutMs)
}

/** Opens the file for one of the processes of a server, which has locked the folder for all of them. */
export async function openSharedSqlite(file: string, log: Log, clock?: () => number): Promise<Storage> {
  const identity = createProcessIdentity()
  const database = openDatabase(file, log, identity)
  const shared = await openSharedStore(database, identity).catch((error) => {
    database.close()
    return throwForOperator(error)
  })
  return assemble(database, log, { shared, clock, close: shared.leave })
}

/** What a store has besides its database. */
type Sharing = {
  readonly shared: OpenSharedStore | undefined
  /** See `StorageOptions`. */
  readonly clock?: (() => number) | undefined
  close(): Promise<void> | void
}

function assemble(
  database: Database,
  log: Log,
  { shared, clock, close }: Sharing,
  lockTimeoutMs?: number,
): Storage {
  const health = createHealth(database, log)
  const writer = createWriter(database, { health, onCommit: () => wal.committed(), lockTimeoutMs })
  const runner = createScriptRunner(database, writer)
  const ledger = createLedger(database, writer)
  const wal = limitWalSize(database, writer, log)
  return {
    keys: new CachedKeys((id) => database.run(findKnownKey(id))),
    managed: { organizations: createOrganizations(database, writer), keys: createKeys(runner) },
    providerState: createProviderState(runner),
    ledger,
    completions: createCompletions(runner, completionSearch),
    responses: createResponses(database, writer),
    usage: createUsageUpkeep(database, writer),
    usageBuckets: createUsageBuckets(database, ledger.flush),
    pendingDeletions: createOrganizationDeletions(database, writer),
    returnSpace: createSpaceReturn(database, writer),
    bootstrap: (configured) =>
      runner.transact(() => bootstrap(configured, Date.now())).catch(throwForOperator),
    readiness: createReadiness(database, writer, health),
    shared: shared && createSharedStore(shared, database, writer, clock),
    writerStats: writer.stats,
    async close() {
      await wal.stop()
      health.close()
      ledger.close()
      writer.close()
      database.close()
      await close()
    },
  }
}

function createUsageUpkeep(database: Database, writer: Writer): UsageUpkeep {
  const expire = prepareUsageExpiry(database)
  return { expire: (before) => writer.write(() => expire(before)), rollUp: createRollup(database, writer) }
}

/** The first write of a start reports the problem of the database to the operator. */
function throwForOperator(error: unknown): never {
  const message = outageMessage(error)
  throw message === undefined ? error : new Error(message, { cause: error })
}
