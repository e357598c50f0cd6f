import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { ownerId } from '../schema/organizations.ts'

// What the processes of a server share; empty for one that is alone.

/** The processes that use the database. What a process that is not here has left open is settled by the others. */
export const processes = sqliteTable('processes', {
  id: text().primaryKey(),
  /** Counts the signs of life: a process whose count does not change is removed. */
  beat: integer().notNull(),
  started_at: integer().notNull(),
  /** By which others on the same machine see that the process has ended; null if they cannot. */
  os_process: text(),
})

/** What an organization has spent of a rate limit, in the units of the token bucket. */
export const rate_limit_buckets = sqliteTable(
  'rate_limit_buckets',
  {
    organization_id: ownerId(),
    kind: text().$type<'requests' | 'tokens'>().notNull(),
    limit: integer().notNull(),
    spent: integer().notNull(),
    refilled_at: integer().notNull(),
  },
  (table) => [primaryKey({ columns: [table.organization_id, table.kind] })],
)

/** How many of the concurrent and of the queued requests of an organization each process has. */
export const slot_leases = sqliteTable(
  'slot_leases',
  {
    organization_id: ownerId(),
    kind: text().$type<'concurrent' | 'queued'>().notNull(),
    process_id: text().notNull(),
    held: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.kind, table.process_id] }),
    index('slot_leases_of_process').on(table.process_id),
  ],
)
