import type { Completions } from './completions.ts'
import type { Readiness, WriterStats } from './health.ts'
import type {
  AccountImport,
  KeyQueries,
  Keys,
  NewKey,
  OrganizationQueries,
  Organizations,
  ProjectQueries,
  Projects,
} from './accounts.ts'
import type { KeyDirectory } from './known-keys.ts'
import type { AdminKeys, KnownAdminKey, NewAdminKey } from './admin-keys.ts'
import type { Actor, AuditLog, FileChange } from './audit.ts'
import type { BudgetQueries, Budgets } from './budgets.ts'
import type { Ledger } from './ledger.ts'
import type { LedgerEntries } from './ledger-entries.ts'
import type { Limits } from './limits.ts'
import type { Peers } from './peers.ts'
import type { ProviderState } from './provider-state.ts'
import type { RequestHistory } from './requests.ts'
import type { Responses } from './responses.ts'
import type { RunStore } from './run-store.ts'
import type { UsageBuckets } from './usage.ts'
import type { CurrentAlerts, WebhookQueue, Webhooks } from './webhooks.ts'

/** The store of a serving gateway. */
export type Storage = {
  readonly keys: KeyDirectory
  readonly adminKeys: KeyDirectory<KnownAdminKey>
  /** The organizations and keys, for the operator. */
  readonly managed: Managed
  readonly providerState: ProviderState
  readonly ledger: Ledger
  readonly completions: Completions
  readonly responses: Responses
  readonly usage: UsageUpkeep
  readonly usageBuckets: UsageBuckets
  readonly pendingDeletions: PendingDeletions
  /** Returns some free space to the operating system, and resolves with the number of pages: 0 if there is none. */
  readonly returnSpace: () => Promise<number>
  /**
   * Creates the first keys of a database that has never had one, and their organization. Rejects if the configured key is
   * not a valid one.
   */
  bootstrap(input: BootstrapInput): Promise<Bootstrap>
  readonly readiness: Readiness
  readonly limits: Limits
  readonly peers: Peers
  readonly runs: RunStore
  writerStats(): WriterStats
  /** Commits the writes that wait, and closes the database. */
  close(): Promise<void>
}

/** The first keys of a database. */
export type BootstrapInput = {
  /** The value of WEIR_BOOTSTRAP_KEY; without one, the first key is random. */
  readonly configured?: string | undefined
  /** Whether the database also gets an admin key. */
  readonly admin: boolean
  /** Who starts the server. */
  readonly actor: Actor
}

/** The keys that a start has created; none where the database was not empty. */
export type Bootstrap = {
  readonly apiKey?: NewKey
  readonly adminKey?: NewAdminKey
  /** Whether the database has an admin key that is valid. */
  readonly hasAdminKey: boolean
}

/** How a store is opened. */
export type StorageOptions = {
  /** Milliseconds between two heartbeats of a process in PostgreSQL. */
  readonly heartbeatIntervalMs?: number | undefined
  /** Milliseconds without a heartbeat after which a process is evicted. */
  readonly evictAfterMs?: number | undefined
  /** Milliseconds after which a deleted response is erased from PostgreSQL; longer than between two heartbeats. */
  readonly erasureDelayMs?: number | undefined
  /** The milliseconds of the rate limits, instead of a monotonic clock, and of that of a PostgreSQL database. */
  readonly clock?: (() => number) | undefined
  /** The milliseconds for which a write waits while another process has locked the SQLite file; default 1,000. */
  readonly lockTimeoutMs?: number | undefined
  /** The milliseconds for which a PostgreSQL database is waited for, instead of several timeouts of some seconds. */
  readonly databaseTimeoutMs?: number | undefined
  /** Ends the opening of a PostgreSQL database, with its reason, while that is migrated or waits for it. */
  readonly stopping?: AbortSignal | undefined
  /** Which events transactions write for webhooks; none by default. */
  readonly alerts?: CurrentAlerts | undefined
}

/** The stores that are only read. */
export type Records = {
  readonly requests: RequestHistory
  readonly audit: AuditLog
  readonly ledgerEntries: LedgerEntries
}

/** What operators and organizations manage; each change has an actor. */
export type Managed = Records & {
  readonly organizations: OrganizationQueries
  readonly projects: ProjectQueries
  readonly keys: KeyQueries
  readonly budgets: BudgetQueries
  readonly webhooks: WebhookQueue
  /** The same, with the changes that this actor makes. */
  by(actor: Actor): ManagedStores
}

/** What operators and organizations manage, with the changes that one actor makes. */
export type ManagedStores = Records & {
  readonly organizations: Organizations
  readonly projects: Projects
  readonly keys: Keys
  readonly adminKeys: AdminKeys
  readonly budgets: Budgets
  readonly webhooks: Webhooks
  /**
   * Returns the content of the request with this id as JSON; undefined if none is kept. Rejects if it cannot write the entry of
   * the audit log that says who has read it.
   */
  readContent(id: string): Promise<string | undefined>
  /** Records a change of files, which is made already. */
  recordFileChange(change: FileChange): Promise<void>
  /** Creates all projects and keys, or none; rejects with a message for the operator. The keys have the order of the import. */
  importAccounts(accounts: AccountImport): Promise<readonly NewKey[]>
}

/** Keeps the recorded usage in order, in steps that delay requests no longer than their own writes. */
export type UsageUpkeep = {
  /** Deletes some of the rows that were created before this time, and resolves with their number: 0 if none are left. */
  expire(before: number): Promise<number>
  /** Does the same with the content of requests. No usage row is deleted before it. */
  expireContent(before: number): Promise<number>
  /** Adds some rows to the totals that reports read; resolves with 0 if no more are due. */
  rollUp(): Promise<number>
}

/** Does one step for the organizations whose deletion has begun; resolves with 0 if there are none. */
export type PendingDeletions = { continue(): Promise<number> }
