import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { ResponseStatus } from '../ports/responses.ts'
import { ownerId } from './organizations.ts'

/** The state that a provider expects back with a later request, by tool call. */
export const provider_state = sqliteTable(
  'provider_state',
  {
    organization_id: ownerId(),
    call_id: text().notNull(),
    provider: text().notNull(),
    value: text().notNull(),
    expires_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.call_id] }),
    index('provider_state_by_expiry').on(table.expires_at),
  ],
)

/**
 * Stored chat completions. The metadata of those that have some are indexed in `completion_terms`, with the model: an FTS5
 * table with the same row ids. A trigger deletes the terms of a deleted completion.
 */
export const completions = sqliteTable(
  'completions',
  {
    /** Computed from the id, so that both sort by creation. */
    sequence: integer().primaryKey(),
    id: text().notNull().unique(),
    organization_id: ownerId(),
    model: text().notNull(),
    metadata: text().notNull(),
    /** The reply without the metadata. */
    completion: text().notNull(),
    /** The messages of the request. The last column, so that a list, which does not return them, does not read them. */
    messages: text().notNull(),
  },
  (table) => [
    index('completions_of_organization').on(table.organization_id, table.sequence),
    index('completions_of_model').on(table.organization_id, table.model, table.sequence),
  ],
)

/** Why a deleted response is still stored: others follow it (`needed`), or it has yet to be erased (`due`). */
export type ResponseDeletion = 'needed' | 'due'

/** Stored responses: the request, and the log from which the response and its events are replayed. */
export const responses = sqliteTable(
  'responses',
  {
    /** Sorts by creation. */
    id: text().primaryKey(),
    organization_id: ownerId(),
    /** The predecessor, which may be deleted. */
    previous_id: text(),
    status: text().$type<ResponseStatus>().notNull(),
    /** Null while the response is visible. */
    deletion: text().$type<ResponseDeletion>(),
    /** The fields that never change. */
    head: text().notNull(),
    /** The order of a background run; null once it has finished, and for all other responses. */
    run: text(),
    /** All events; during a run only the first ones: the others are in `response_log`. */
    log: text().notNull(),
    /** The items of the request, with references resolved. The last column, so that other reads do not load them. */
    input: text().notNull(),
  },
  (table) => [
    check('responses_run', sql`(${table.status} in ('queued', 'in_progress')) = (${table.run} is not null)`),
    index('responses_that_follow').on(table.organization_id, table.previous_id),
    index('responses_of_organization')
      .on(table.organization_id, table.id)
      .where(sql`${table.deletion} is null`),
    index('responses_in_sight')
      .on(table.id)
      .where(sql`${table.deletion} is null and ${table.status} in ('completed', 'failed', 'incomplete')`),
    index('responses_to_erase')
      .on(table.id)
      .where(sql`${table.deletion} = 'due'`),
    index('responses_unfinished')
      .on(table.id)
      .where(sql`${table.status} in ('queued', 'in_progress')`),
  ],
)

/** Whether the run of a response has finished, or not: written as in the indexes above, which serve no other condition. */
export const isFinished = sql`${responses.status} in ('completed', 'failed', 'incomplete')`
export const isUnfinished = sql`${responses.status} in ('queued', 'in_progress')`

/** The bytes of a response without the pieces of its log. `octet_length` does not read a text. */
export const responseBytes = sql<number>`octet_length(${responses.head}) + octet_length(${responses.log}) + octet_length(${responses.input})`

/** The log of a background run in pieces, while it runs: what is left of the run if the process is killed. */
export const response_log = sqliteTable(
  'response_log',
  {
    response_id: text()
      .notNull()
      .references(() => responses.id, { onDelete: 'cascade' }),
    position: integer().notNull(),
    entries: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.response_id, table.position] })],
)

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
