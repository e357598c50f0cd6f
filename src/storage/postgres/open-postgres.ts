import { lazy } from '../../lib/lazy.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import { clientReports, operatorReports } from '../usage/report-slots.ts'
import { createUsageReports } from '../usage/reports.ts'
import { type BusyRetries, patientRunner, retryWhileBusy } from '../common/busy-retries.ts'
import { CachedKeys } from '../key-directory.ts'
import type { Actor } from '../ports/audit.ts'
import type { Storage, StorageOptions } from '../ports/storage.ts'
import { findKnownAdminKey } from '../scripts/admin-keys.ts'
import { createCompletions } from '../scripts/completions.ts'
import { bootstrap, findKnownKey } from '../scripts/known-keys.ts'
import { createManaged, createManagedStores } from '../scripts/managed-stores.ts'
import { createOrganizationDeletions } from '../scripts/organization-deletion.ts'
import { createProviderState } from '../scripts/provider-state.ts'
import type { ScriptRunner } from '../statement.ts'
import type { ErasableResponses } from '../scripts/responses.ts'
import { rollUpWithBlocks } from '../scripts/usage-blocks.ts'
import { createUsageExpiry } from '../scripts/usage-expiry.ts'
import { printLargeWrites } from '../common/large-writes.ts'
import { createLedger } from './ledger.ts'
import { type Cluster, joinCluster } from './cluster/cluster.ts'
import { startHeartbeat } from './cluster/heartbeat.ts'
import { createRunStore } from './cluster/run-store.ts'
import { completionSearch } from './completion-search.ts'
import type { Query } from './connection/connections.ts'
import { assertNoEarlierServer, type Database, openDatabase } from './connection/database.ts'
import { createReadiness } from './health.ts'
import { isBusy, outageReason } from './postgres-errors.ts'
import { createResponses } from './responses.ts'
import { createScriptRunner, runScript } from './run-script.ts'
import { createRollup } from './usage-rollup.ts'
import { subtractDeleted } from './usage-totals.ts'
import { createUsageSource } from './usage-source.ts'
import { createTransactionExpiry } from './writer/outcome.ts'

/** Opens the database with this URL for one more process, and migrates it if necessary. */
export async function openPostgres(url: Secret, log: Log, options: StorageOptions = {}): Promise<Storage> {
  const { clock, databaseTimeoutMs: timeoutMs, stopping } = options
  const database = await openDatabase(url, log, { timeoutMs, stopping })
  const { writer, usageWriter, health } = database
  await assertNoEarlierServer(database).catch((error) => closeAfter(database, error))
  const cluster = await joinCluster(url, database, clock, timeoutMs).catch((error) =>
    closeAfter(database, error),
  )
  const ledger = createLedger(database, options.alerts)
  const runner = createScriptRunner(database)
  const responses = createResponses(database, options.erasureDelayMs)
  const peers = await startPeers(cluster, database, responses, log, options)
  return {
    ...createKeyDirectories(database),
    managed: createManaged(runner),
    providerState: createProviderState(runner),
    ledger: printLargeWrites(ledger),
    completions: createCompletions(runner, completionSearch),
    responses,
    usage: createUpkeep(database, runner),
    usageBuckets: createUsageReports(createUsageSource(database), clientReports),
    pendingDeletions: createOrganizationDeletions(runner),
    // PostgreSQL returns space by itself; what the store keeps for a while is deleted here.
    returnSpace: createTransactionExpiry(database.query),
    bootstrap: (input) => runner.transact(() => bootstrap(input, Date.now())),
    readiness: createReadiness(health),
    limits: cluster.limits,
    peers,
    runs: createRunStore(database.query, database.transact),
    writerStats: () => sumOf(writer.stats(), usageWriter.stats()),
    close: lazy(async () => {
      await cluster.limits.stop()
      // The settlements that could not be written have a last attempt, which an outage that is over must not refuse.
      if (health.unavailableError()) await health.probe().catch(() => {})
      ledger.close()
      await database.close()
      peers.stop()
      // When nothing is settled under this id any more.
      await cluster.leave()
    }),
  }
}

/** A request waits no longer than `callerTimeoutMs`, and not at all while the database is known to be unavailable. */
function createKeyDirectories({
  query,
  health,
  callerTimeoutMs,
}: Database): Pick<Storage, 'keys' | 'adminKeys'> {
  const queryInTime: Query = async (text, values) => {
    const unavailable = health.unavailableError()
    if (unavailable) throw unavailable
    return await query(text, values, callerTimeoutMs)
  }
  return {
    keys: new CachedKeys((id) => runScript(queryInTime, findKnownKey(id))),
    adminKeys: new CachedKeys((id) => runScript(queryInTime, findKnownAdminKey(id))),
  }
}

function createUpkeep(database: Database, runner: ScriptRunner): Storage['usage'] {
  const rollUp = rollUpWithBlocks(createRollup(database), runner)
  return { ...createUsageExpiry(runner, subtractDeleted), rollUp }
}

function startPeers(
  { processes }: Cluster,
  { process }: Database,
  responses: ErasableResponses,
  log: Log,
  options: StorageOptions,
) {
  // If it fails, the next heartbeat repeats it in time.
  const onHeartbeat = () => void responses.postponeErasures().catch(() => {})
  return startHeartbeat({ process, processes, onHeartbeat, log }, options)
}

/** Opens the database for a command as `openDatabase` of all databases does. */
export async function openPostgresForAdmin(
  url: Secret,
  log: Log,
  actor: Actor,
  onWait: BusyRetries['onWait'] = () => {},
) {
  const retries = { isBusy, onWait }
  const database = await retryWhileBusy(() => openDatabase(url, log), retries)
  const runner = patientRunner(createScriptRunner(database), retries)
  return {
    name: database.label,
    ...createManagedStores(runner, actor),
    usage: createUsageReports(createUsageSource(database), operatorReports),
    outageReason: (error: unknown, subject: string) =>
      isBusy(error) ? undefined : outageReason(error, subject),
    close: database.close,
  }
}

async function closeAfter(database: Database, error: unknown): Promise<never> {
  await database.close()
  throw error
}

type Stats = ReturnType<Storage['writerStats']>

function sumOf(one: Stats, other: Stats): Stats {
  return {
    waiting: one.waiting + other.waiting,
    commits: one.commits + other.commits,
    seconds: one.seconds + other.seconds,
    failed: one.failed + other.failed,
  }
}
