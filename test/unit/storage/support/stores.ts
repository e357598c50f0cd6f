import { createScriptRunner } from '../../../../src/storage/sqlite/script-runner.ts'
import { describe, onTestFinished } from 'bun:test'
import { Secret } from '../../../../src/lib/secret.ts'
import { silentLog } from '../../../../src/lib/log.ts'
import type { AdminKeys, KnownAdminKey } from '../../../../src/storage/ports/admin-keys.ts'
import type { AuditLog } from '../../../../src/storage/ports/audit.ts'
import type { Budgets } from '../../../../src/storage/ports/budgets.ts'
import type { Completions } from '../../../../src/storage/ports/completions.ts'
import type { Keys, Organizations, Projects } from '../../../../src/storage/ports/accounts.ts'
import type { KeyDirectory } from '../../../../src/storage/ports/known-keys.ts'
import type { Ledger } from '../../../../src/storage/ports/ledger.ts'
import type { LedgerEntries } from '../../../../src/storage/ports/ledger-entries.ts'
import type { ProviderState } from '../../../../src/storage/ports/provider-state.ts'
import type { RequestHistory } from '../../../../src/storage/ports/requests.ts'
import type { Responses } from '../../../../src/storage/ports/responses.ts'
import type {
  Bootstrap,
  BootstrapInput,
  ManagedStores,
  UsageUpkeep,
} from '../../../../src/storage/ports/storage.ts'
import type { CurrentAlerts, Webhooks } from '../../../../src/storage/ports/webhooks.ts'
import type { UsageBuckets, UsageQuery, UsageReport } from '../../../../src/storage/ports/usage.ts'
import * as postgresLedger from '../../../../src/storage/postgres/ledger.ts'
import { completionSearch as postgresSearch } from '../../../../src/storage/postgres/completion-search.ts'
import { openConnections } from '../../../../src/storage/postgres/connection/connections.ts'
import * as postgresDatabase from '../../../../src/storage/postgres/connection/database.ts'
import * as postgresResponses from '../../../../src/storage/postgres/responses.ts'
import { createUsageSource as createPostgresSource } from '../../../../src/storage/postgres/usage-source.ts'
import { createLeaseStore, type RenewLeases } from '../../../../src/storage/postgres/cluster/lease-store.ts'
import * as postgresRollup from '../../../../src/storage/postgres/usage-rollup.ts'
import { subtractDeleted } from '../../../../src/storage/postgres/usage-totals.ts'
import type { RunStore } from '../../../../src/storage/ports/run-store.ts'
import type { ProcessIdentity } from '../../../../src/storage/common/process-identity.ts'
import { joinCluster } from '../../../../src/storage/postgres/cluster/cluster.ts'
import type { Processes } from '../../../../src/storage/postgres/cluster/processes.ts'
import { createRunStore as createPostgresRuns } from '../../../../src/storage/postgres/cluster/run-store.ts'
import { createLedger } from '../../../../src/storage/sqlite/ledger.ts'
import { operatorReport } from '../../../../src/storage/usage/operator-report.ts'
import { clientReports, operatorReports } from '../../../../src/storage/usage/report-slots.ts'
import { createUsageReports } from '../../../../src/storage/usage/reports.ts'
import { createUsageExpiry } from '../../../../src/storage/scripts/usage-expiry.ts'
import { createCompletions } from '../../../../src/storage/scripts/completions.ts'
import { completionSearch } from '../../../../src/storage/sqlite/completion-search.ts'
import { CachedKeys } from '../../../../src/storage/key-directory.ts'
import * as postgresScripts from '../../../../src/storage/postgres/run-script.ts'
import { findKnownAdminKey } from '../../../../src/storage/scripts/admin-keys.ts'
import { bootstrap, findKnownKey } from '../../../../src/storage/scripts/known-keys.ts'
import { createLedgerEntries } from '../../../../src/storage/scripts/ledger-entries.ts'
import { createManagedStores } from '../../../../src/storage/scripts/managed-stores.ts'
import { createRequestHistory } from '../../../../src/storage/scripts/requests.ts'
import { rollUpWithBlocks } from '../../../../src/storage/scripts/usage-blocks.ts'
import { createProviderState } from '../../../../src/storage/scripts/provider-state.ts'
import { sqliteResponses } from './sqlite-responses.ts'
import { createRollup, createSubtractDeleted } from '../../../../src/storage/sqlite/usage-totals.ts'
import { createUsageSource } from '../../../../src/storage/sqlite/usage-source.ts'
import { createRunStore } from '../../../../src/storage/sqlite/run-store.ts'
import { createMigratedDatabase } from '../../../support/postgres/migrated-database.ts'
import { patientTimeoutMs } from '../../../support/postgres/open-database.ts'
import { hasPostgres, sharedPostgres } from '../../../support/postgres/server.ts'
import { testStorage } from './folder.ts'
import { testActor } from '../../../support/actor.ts'

/** An empty store, behind the ports. */
export type TestStore = {
  readonly organizations: Organizations
  readonly projects: Projects
  readonly budgets: Budgets
  readonly webhooks: Webhooks
  readonly audit: AuditLog
  readonly importAccounts: ManagedStores['importAccounts']
  readonly readContent: ManagedStores['readContent']
  readonly ledger: Ledger
  readonly completions: Completions
  readonly responses: Responses
  /** The same after a restart. */
  otherResponses(): Responses
  readonly runs: RunStore
  /** The same after a restart. */
  otherRuns(): RunStore
  readonly usage: UsageUpkeep
  /** A page reads about as many rows at most. */
  requestHistory(maxRows?: number): RequestHistory
  /** A page reads the amounts of as many newer entries at most. */
  ledgerEntries(maxNewer?: number): LedgerEntries
  readonly buckets: UsageBuckets
  /** These depend on a clock. */
  keys(now?: () => number): Keys
  providerState(now?: () => number): ProviderState
  keyDirectory(now?: () => number): KeyDirectory
  adminKeys(now?: () => number): AdminKeys
  webhooksAt(now: () => number): Webhooks
  /** Not cached. */
  findAdminKey(id: string): KnownAdminKey | undefined | Promise<KnownAdminKey | undefined>
  bootstrap(input?: Partial<BootstrapInput>): Promise<Bootstrap>
  report(query: UsageQuery): Promise<UsageReport>
  /** Runs SQL that every store understands; booleans are numbers. */
  rows(text: string): Promise<readonly Readonly<Record<string, unknown>>[]>
  /** Makes what is open look like what a killed process has left. */
  leaveOpen(): Promise<void>
  /** Resolves when the jobs that were given to the writers are committed. */
  written(): Promise<void>
}

/** A store that processes share; this one is registered. */
export type SharedTestStore = TestStore & {
  readonly shared: { readonly process: ProcessIdentity; readonly processes: Processes }
  readonly renewLeases: RenewLeases
  /** The responses in another process; hidden ones are erased after this delay. */
  delayedResponses(erasureDelayMs: number): ReturnType<typeof postgresResponses.createResponses>
}

/** `clock` is that of the rate limits; otherwise it is that of the database. */
export type StoreOptions = {
  readonly clock?: () => number
  readonly alerts?: CurrentAlerts
  /** How long PostgreSQL is waited for; by default, for longer than a busy machine takes. */
  readonly timeoutMs?: number | undefined
  /** How many rows a step adds to the totals of usage; by default, as many as in a server. */
  readonly rollUpRows?: number | undefined
}

/** Opens an empty store that is closed after the test. */
export type OpenStore<Store = TestStore> = (options?: StoreOptions) => Promise<Store>

/** Defines the same tests for every store. Without PostgreSQL on the machine, its tests are skipped. */
export function testStores(define: (open: OpenStore) => void): void {
  describe('in SQLite', () => define(openSqliteStore))
  describe.skipIf(!hasPostgres)('in PostgreSQL', () => define(openPostgresStore))
}

/** Defines tests for the store that processes share. */
export function testSharedStores(define: (open: OpenStore<SharedTestStore>) => void): void {
  describe.skipIf(!hasPostgres)('in PostgreSQL', () => define(openPostgresStore))
}

/** The rows as lists of values. */
export async function valuesOf(store: Pick<TestStore, 'rows'>, text: string): Promise<unknown[][]> {
  return (await store.rows(text)).map((row) => Object.values(row))
}

/** A store in a SQLite file. */
export async function openSqliteStore({ alerts, rollUpRows }: StoreOptions = {}): Promise<TestStore> {
  const { database, writer } = testStorage()
  const runner = createScriptRunner(database, writer)
  const ledger = createLedger(database, writer, alerts)
  return {
    ...createManagedStores(runner, testActor),
    ledger,
    completions: createCompletions(runner, completionSearch),
    responses: sqliteResponses(database, writer),
    otherResponses: () => sqliteResponses(database, writer),
    runs: createRunStore(database, writer),
    otherRuns: () => createRunStore(database, writer),
    usage: {
      ...createUsageExpiry(runner, createSubtractDeleted(database)),
      rollUp: rollUpWithBlocks(createRollup(database, writer, rollUpRows), runner),
    },
    requestHistory: (maxRows) => createRequestHistory(runner, maxRows),
    ledgerEntries: (maxNewer) => createLedgerEntries(runner, maxNewer),
    buckets: createUsageReports(createUsageSource(database, ledger.flush), clientReports),
    keys: (now) => createManagedStores(runner, testActor, now).keys,
    providerState: (now) => createProviderState(runner, now),
    keyDirectory: (now) => new CachedKeys((id) => database.run(findKnownKey(id)), now),
    adminKeys: (now) => createManagedStores(runner, testActor, now).adminKeys,
    webhooksAt: (now) => createManagedStores(runner, testActor, now).webhooks,
    findAdminKey: (id) => database.run(findKnownAdminKey(id)),
    bootstrap: (input) =>
      runner.transact(() => bootstrap({ actor: testActor, admin: true, ...input }, Date.now())),
    report: (query) =>
      operatorReport(query, {
        ...createManagedStores(runner, testActor),
        usage: createUsageReports(createUsageSource(database), operatorReports),
      }),
    rows: async (text) => database.sqlite.query<Readonly<Record<string, unknown>>, []>(text).all(),
    async leaveOpen() {},
    async written() {
      await ledger.flush()
      await writer.write(() => {})
    },
  }
}

/** A store in a database of its own. */
export async function openPostgresStore({
  clock,
  alerts,
  timeoutMs = patientTimeoutMs,
  rollUpRows,
}: StoreOptions = {}): Promise<SharedTestStore> {
  const server = await sharedPostgres()
  const url = await createMigratedDatabase()
  const database = await postgresDatabase.openDatabase(new Secret(url), silentLog, { timeoutMs })
  const cluster = await joinCluster(new Secret(url), database, clock, timeoutMs)
  const connections = openConnections(new Secret(url), 1, { keepIdle: true, timeoutMs })
  onTestFinished(async () => {
    await connections.close()
    await database.close()
    await cluster.leave()
    await server.dropDatabase(url)
  })
  const { query } = database
  const runner = postgresScripts.createScriptRunner(database)
  return {
    shared: { process: database.process, processes: cluster.processes },
    renewLeases: createLeaseStore(connections, { health: database.health, now: clock, timeoutMs }),
    ...createManagedStores(runner, testActor),
    ledger: postgresLedger.createLedger(database, alerts),
    completions: createCompletions(runner, postgresSearch),
    responses: postgresResponses.createResponses(database, 0),
    otherResponses: () => postgresResponses.createResponses(database, 0),
    runs: createPostgresRuns(query, database.transact),
    otherRuns: () => createPostgresRuns(query, database.transact),
    delayedResponses: (delay) => postgresResponses.createResponses(database, delay),
    usage: {
      ...createUsageExpiry(runner, subtractDeleted),
      rollUp: rollUpWithBlocks(postgresRollup.createRollup(database, rollUpRows), runner),
    },
    requestHistory: (maxRows) => createRequestHistory(runner, maxRows),
    ledgerEntries: (maxNewer) => createLedgerEntries(runner, maxNewer),
    buckets: createUsageReports(createPostgresSource(database), clientReports),
    keys: (now) => createManagedStores(runner, testActor, now).keys,
    providerState: (now) => createProviderState(runner, now),
    keyDirectory: (now) => new CachedKeys((id) => postgresScripts.runScript(query, findKnownKey(id)), now),
    adminKeys: (now) => createManagedStores(runner, testActor, now).adminKeys,
    webhooksAt: (now) => createManagedStores(runner, testActor, now).webhooks,
    findAdminKey: (id) => postgresScripts.runScript(query, findKnownAdminKey(id)),
    bootstrap: (input) =>
      runner.transact(() => bootstrap({ actor: testActor, admin: true, ...input }, Date.now())),
    report: (request) =>
      operatorReport(request, {
        ...createManagedStores(runner, testActor),
        usage: createUsageReports(createPostgresSource(database), operatorReports),
      }),
    rows: async (text) => (await query<Readonly<Record<string, unknown>>>(text)).map(withoutBooleans),
    async leaveOpen() {
      await query('DELETE FROM processes')
    },
    async written() {
      await Promise.all([database.writer, database.usageWriter].map((writer) => writer.settled()))
    },
  }
}

function withoutBooleans(row: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'boolean' ? Number(value) : value]),
  )
}
