import { sql } from 'drizzle-orm'
import { blob, check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Json, JsonObject } from '../../lib/json/json.ts'
import type { Api, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { BillingMode } from '../../domain/accounting/organization.ts'
import type { ResponseStatus } from '../ports/responses.ts'

// Timestamps are milliseconds since 1970, amounts are nano-dollars. A balance stays within 2^53 - 1 of zero (9 million
// USD, held by a check), so both are exact as numbers; a sum over many rows must be read as a bigint.
//
// Each page that a request changes is written once more to the log. So `usage`, `ledger` and `reservations`, of which
// every paid request has rows, and `usage_totals` are `WITHOUT ROWID`, which the migrations say and Drizzle does not know: each is one tree,
// with its newest rows together at the end.

/** The state of a deletion: the rows of an organization are deleted in steps, and its own row stays. */
export type OrganizationDeletion = 'begun' | 'done'

/** The owners of keys, data, limits and a balance. */
export const organizations = sqliteTable(
  'organizations',
  {
    id: text().primaryKey(),
    name: text().notNull().unique(),
    billing: text().$type<BillingMode>().notNull().default('unmetered'),
    /** Negative if requests cost more than was reserved for them. */
    balance: integer().notNull().default(0),
    /** The sum of the open reservations. */
    reserved: integer().notNull().default(0),
    requests_per_minute: integer(),
    tokens_per_minute: integer(),
    concurrent_requests: integer(),
    created_at: integer().notNull(),
    /** Null while it exists; an organization whose deletion has begun is treated as missing. */
    deletion: text().$type<OrganizationDeletion>(),
  },
  (table) => [
    index('organizations_to_delete')
      .on(table.id)
      .where(sql`${table.deletion} = 'begun'`),
    check('organizations_deletion', sql`${table.deletion} in ('begun', 'done')`),
    check('organizations_billing', sql`${table.billing} in ('unmetered', 'prepaid', 'none')`),
    check('organizations_balance', sql`${table.balance} between -9007199254740991 and 9007199254740991`),
    check('organizations_reserved', sql`${table.reserved} >= 0`),
  ],
)

/** API keys. No foreign key, so that the key of a deleted organization stays, and its client gets a specific error. */
export const api_keys = sqliteTable(
  'api_keys',
  {
    public_id: text().primaryKey(),
    organization_id: text().notNull(),
    name: text().notNull(),
    /** SHA-256 of the secret. */
    secret_hash: blob({ mode: 'buffer' }).notNull(),
    last4: text().notNull(),
    created_at: integer().notNull(),
    expires_at: integer(),
    revoked_at: integer(),
    /** The id of the key that a rotation created. */
    replaced_by: text(),
  },
  (table) => [index('api_keys_of_organization').on(table.organization_id)],
)

/** The state that a provider expects back with a later request, by tool call. */
export const provider_state = sqliteTable(
  'provider_state',
  {
    organization_id: ownerId(),
    call_id: text().notNull(),
    provider: text().notNull(),
    value: text({ mode: 'json' }).$type<Json>().notNull(),
    expires_at: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.call_id] }),
    index('provider_state_by_expiry').on(table.expires_at),
  ],
)

/** The reservations of open requests; a row whose process is not in `processes` was left by one that died. */
export const reservations = sqliteTable('reservations', {
  request_id: text().primaryKey(),
  organization_id: ownerId(),
  amount: integer().notNull(),
  /** The charge if the process dies and only the prompt is known. */
  prompt_cost: integer().notNull(),
  prompt_tokens: integer().notNull(),
  /** The metadata for its usage row. */
  request: text({ mode: 'json' }).$type<RequestMetadata>().notNull(),
  /** The process that settles it; null for a server that is alone. */
  process_id: text(),
})

/** Money added by the operator, or the cost of a request. */
export type EntryKind = 'credit' | 'charge'

/** Every change of a balance; the entries of an organization add up to its balance. */
export const ledger = sqliteTable(
  'ledger',
  {
    id: text().primaryKey(),
    organization_id: ownerId(),
    created_at: integer().notNull(),
    kind: text().$type<EntryKind>().notNull(),
    /** What it adds to the balance. */
    amount: integer().notNull(),
    request_id: text(),
    note: text(),
  },
  (table) => [
    check(
      'ledger_amount',
      sql`(${table.kind} = 'credit' and ${table.amount} <> 0) or (${table.kind} = 'charge' and ${table.amount} < 0)`,
    ),
  ],
)

/** One row per request, including failed ones. */
export const usage = sqliteTable(
  'usage',
  {
    /** The id of the request. */
    id: text().notNull(),
    organization_id: ownerId(),
    key_id: text().notNull(),
    created_at: integer().notNull(),
    api: text().$type<Api>().notNull(),
    /** The slug; null if the request names no existing model. */
    model: text(),
    provider: text(),
    upstream_model: text(),
    stream: integer({ mode: 'boolean' }).notNull(),
    prompt_tokens: integer().notNull(),
    completion_tokens: integer().notNull(),
    cached_tokens: integer().notNull(),
    cache_write_tokens: integer().notNull(),
    reasoning_tokens: integer().notNull(),
    /** Whether the tokens are an estimate, because the provider reported none. */
    estimated: integer({ mode: 'boolean' }).notNull(),
    /** Null if the model has no price. */
    cost: integer(),
    latency_ms: integer(),
    first_token_ms: integer(),
    /** The status of the reply; 499 if the client disconnected first, 0 if the process died. */
    status: integer().notNull(),
    error: text(),
    performance_mode: text(),
    user: text(),
    tags: text({ mode: 'json' }).$type<readonly string[]>(),
    trace: text({ mode: 'json' }).$type<Json>(),
  },
  // By time, because reports read a range of it. Still one row per request, because the time is part of its id.
  (table) => [primaryKey({ columns: [table.created_at, table.id] })],
)

/**
 * Stored chat completions. Their model and metadata are indexed in `completion_terms`, an FTS5 table with the same row
 * ids; a trigger deletes the terms of a deleted completion.
 */
export const completions = sqliteTable(
  'completions',
  {
    /** Computed from the id, so that both sort by creation. */
    sequence: integer().primaryKey(),
    id: text().notNull().unique(),
    organization_id: ownerId(),
    model: text().notNull(),
    metadata: text({ mode: 'json' }).$type<JsonObject>().notNull(),
    /** The reply without the metadata. */
    completion: text({ mode: 'json' }).$type<JsonObject>().notNull(),
    /** The messages of the request. The last column, so that a list, which does not return them, does not read them. */
    messages: text({ mode: 'json' }).$type<readonly JsonObject[]>().notNull(),
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
    head: text({ mode: 'json' }).$type<JsonObject>().notNull(),
    /** The order of a background run; null once it has finished, and for all other responses. */
    run: text({ mode: 'json' }).$type<JsonObject>(),
    /** All events; during a run only the first ones: the others are in `response_log`. */
    log: text().notNull(),
    /** The items of the request, with references resolved. The last column, so that other reads do not load them. */
    input: text({ mode: 'json' }).$type<readonly JsonObject[]>().notNull(),
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

/** The organization of a row; deleting it deletes the row. */
export function ownerId() {
  return text()
    .notNull()
    .references(() => organizations.id, { onDelete: 'cascade' })
}
