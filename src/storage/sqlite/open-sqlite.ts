import type { Log } from '../../lib/log.ts'
import { clientReports } from '../usage/report-slots.ts'
import { createUsageReports } from '../usage/reports.ts'
import { CachedKeys } from '../key-directory.ts'
import { createProcessIdentity } from '../common/process-identity.ts'
import type { Peers } from '../ports/peers.ts'
import type { Storage, StorageOptions } from '../ports/storage.ts'
import { findKnownAdminKey } from '../scripts/admin-keys.ts'
import { createCompletions } from '../scripts/completions.ts'
import { bootstrap, findKnownKey } from '../scripts/known-keys.ts'
import { createManaged } from '../scripts/managed-stores.ts'
import { createOrganizationDeletions } from '../scripts/organization-deletion.ts'
import { createProviderState } from '../scripts/provider-state.ts'
import { createResponses } from '../scripts/responses.ts'
import { rollUpWithBlocks } from '../scripts/usage-blocks.ts'
import { createUsageExpiry } from '../scripts/usage-expiry.ts'
import { printLargeWrites } from '../common/large-writes.ts'
import { createLedger } from './ledger.ts'
import { completionSearch } from './completion-search.ts'
import { inMemory, openDatabase } from './connection/database.ts'
import { openDisk } from './connection/disk.ts'
import { createSpaceReturn, limitWalSize } from './connection/file-size.ts'
import { lockForServing } from './connection/serving-lock.ts'
import { createHealth, createReadiness } from './health.ts'
import { createMemoryLimits } from './limits.ts'
import { createRunStore } from './run-store.ts'
import { createScriptRunner } from './script-runner.ts'
import { outageMessage } from './sqlite-errors.ts'
import { createUsageSource } from './usage-source.ts'
import { createRollup, createSubtractDeleted } from './usage-totals.ts'
import { Writer } from './writer.ts'

/**
 * Opens the file or `:memory:`, and creates or migrates it if necessary; throws if another server uses it. */
export function openSqlite(file: string, log: Log, options: StorageOptions = {}): Storage {
  const lock = file === inMemory ? undefined : lockForServing(file)
  const database = openDatabase(file, log)
  const disk = openDisk(file)
  const health = createHealth(database, log, disk)
  const writer = new Writer(database, { ...options, disk, health, onCommit: () => wal.committed() })
  const runner = createScriptRunner(database, writer)
  const ledger = createLedger(database, writer, options.alerts)
  const wal = limitWalSize(database, writer, log)
  return {
    keys: new CachedKeys((id) => database.run(findKnownKey(id))),
    adminKeys: new CachedKeys((id) => database.run(findKnownAdminKey(id))),
    managed: createManaged(runner),
    providerState: createProviderState(runner),
    ledger: printLargeWrites(ledger),
    completions: createCompletions(runner, completionSearch),
    responses: createResponses(runner, { written: () => writer.write(() => {}) }),
    usage: {
      ...createUsageExpiry(runner, createSubtractDeleted(database)),
      rollUp: rollUpWithBlocks(createRollup(database, writer), runner),
    },
    usageBuckets: createUsageReports(createUsageSource(database, ledger.flush), clientReports),
    pendingDeletions: createOrganizationDeletions(runner),
    returnSpace: createSpaceReturn(database, writer),
    bootstrap: (input) => runner.transact(() => bootstrap(input, Date.now())).catch(throwForOperator),
    readiness: createReadiness(database, writer, health),
    limits: createMemoryLimits(options.clock),
    peers: createOnlyPeer(),
    runs: createRunStore(database, writer),
    writerStats: () => writer.stats(),
    async close() {
      await wal.stop()
      health.close()
      ledger.close()
      writer.close()
      database.close()
      lock?.release()
    },
  }
}

/** The lock of the file keeps other servers out. */
function createOnlyPeer(): Peers {
  const { id } = createProcessIdentity()
  return { id, count: () => 1, isFirst: () => true, watch: () => ({ stop() {} }), async evict() {} }
}

/** The first write of a start reports the problem of the database to the operator. */
function throwForOperator(error: unknown): never {
  const message = outageMessage(error)
  throw message === undefined ? error : new Error(message, { cause: error })
}
