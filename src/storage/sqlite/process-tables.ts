import { integer, index, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { ownerId, responses } from './tables.ts'

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

/** The owners of unfinished background runs. */
export const runs = sqliteTable(
  'runs',
  {
    response_id: text()
      .primaryKey()
      .references(() => responses.id, { onDelete: 'cascade' }),
    process_id: text().notNull(),
    /** The request whose reservation and usage belong to the run. */
    request_id: text().notNull(),
    /** The run is to be cancelled: its owner ends it, and nothing starts it any more. */
    cancel_requested: integer({ mode: 'boolean' }).notNull().default(false),
  },
  (table) => [index('runs_of_process').on(table.process_id), index('runs_of_request').on(table.request_id)],
)

/** When a deleted response may be erased: until then, a process may be about to store a response that follows it. */
export const response_erasures = sqliteTable('response_erasures', {
  response_id: text()
    .primaryKey()
    .references(() => responses.id, { onDelete: 'cascade' }),
  not_before: integer().notNull(),
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
