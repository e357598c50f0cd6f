import { bigint, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'

// What only PostgreSQL has, because several processes share it.

const number = () => bigint({ mode: 'number' })

/** The processes that use the database. What a process that is not here has left open is settled by the others. */
export const processes = pgTable('processes', {
  id: text().primaryKey(),
  /** Counts the heartbeats: a process whose count does not change is removed. */
  beat: number().notNull(),
  started_at: number().notNull(),
  /** By which others on the same machine see that the process has ended; null if they cannot. */
  os_process: text(),
  /** The version of the schema that the process knows; null for those of versions without `usage_sums`. */
  schema: integer(),
})

/** The amount of a rate limit that an organization has spent, in the units of the token bucket. */
export const rate_limit_buckets = pgTable(
  'rate_limit_buckets',
  {
    organization_id: text().notNull(),
    kind: text().$type<'requests' | 'tokens'>().notNull(),
    limit: number().notNull(),
    spent: number().notNull(),
    refilled_at: number().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.kind] })],
)

/** How many of the concurrent and of the queued requests of an organization each process has. */
export const slot_leases = pgTable(
  'slot_leases',
  {
    organization_id: text().notNull(),
    kind: text().$type<'concurrent' | 'queued'>().notNull(),
    process_id: text().notNull(),
    held: number().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.kind, table.process_id] }),
    index('slot_leases_of_process').on(table.process_id),
  ],
)

/** The transactions of the last minutes, from which the outcome of a COMMIT is known whose connection was lost. */
export const transactions = pgTable(
  'transactions',
  {
    id: text().primaryKey(),
    /** The result of its statement, as JSON. */
    results: text().notNull(),
    created_at: number().notNull(),
  },
  (table) => [index('transactions_by_age').on(table.created_at)],
)

/** The rows of `usage` that were recorded late, and are not part of the totals yet. */
export const usage_late = pgTable(
  'usage_late',
  { created_at: number().notNull(), id: text().notNull() },
  (table) => [primaryKey({ columns: [table.created_at, table.id] })],
)
