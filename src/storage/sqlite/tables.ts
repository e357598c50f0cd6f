import { sql } from 'drizzle-orm'
import { blob, check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Json, JsonObject } from '../../lib/json/json.ts'
import type { Api, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { BillingMode } from '../../domain/accounting/organization.ts'
import type { ResponseStatus } from '../ports/responses.ts'

/** How far the deletion of an organization is: its rows are deleted in steps, and only its own one stays. */
export type OrganizationDeletion = 'begun' | 'done'

/** Who owns keys, data, limits and a balance. */
export const organizations = sqliteTable(
  'organizations',
  {
    id: text().primaryKey(),
    name: text().notNull().unique(),
    billing: text().$type<BillingMode>().notNull().default('unmetered'),
    /** Below zero where requests cost more than was reserved for them. */
    balance: integer().notNull().default(0),
    /** The amount that open requests have reserved. */
    reserved: integer().notNull().default(0),
    requests_per_minute: integer(),
    tokens_per_minute: integer(),
    concurrent_requests: integer(),
    created_at: integer().notNull(),
    /** Null while it exists: for whoever uses it, one that is being deleted does not. */
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

/** API keys. Without a foreign key: the key of a deleted organization stays, and its caller is told so. */
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
    /** The key that a rotation put in the place of this one. */
    replaced_by: text(),
  },
  (table) => [index('api_keys_of_organization').on(table.organization_id)],
)

/** What a provider wants back with a later request, by the tool call that it came with. */
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

/** What open requests may still take; a row that is found at start was left by a process that died. */
export const reservations = sqliteTable('reservations', {
  request_id: text().primaryKey(),
  organization_id: ownerId(),
  amount: integer().notNull(),
  /** What the request is charged where nothing more is known than that it was sent. */
  prompt_cost: integer().notNull(),
  prompt_tokens: integer().notNull(),
  /** What its usage row says of the request itself. */
  request: text({ mode: 'json' }).$type<RequestMetadata>().notNull(),
})

/** What a ledger entry stands for: money added, or the cost of a request. */
export type EntryKind = 'credit' | 'charge'

/** Every change of a balance; the entries of an organization sum to its balance. */
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

/** One row a request, also where it failed. */
export const usage = sqliteTable(
  'usage',
  {
    /** That of the request. */
    id: text().notNull(),
    organization_id: ownerId(),
    key_id: text().notNull(),
    created_at: integer().notNull(),
    api: text().$type<Api>().notNull(),
    /** The slug that serves it; null where the request names no model that exists. */
    model: text(),
    provider: text(),
    upstream_model: text(),
    stream: integer({ mode: 'boolean' }).notNull(),
    prompt_tokens: integer().notNull(),
    completion_tokens: integer().notNull(),
    cached_tokens: integer().notNull(),
    cache_write_tokens: integer().notNull(),
    reasoning_tokens: integer().notNull(),
    /** Whether the tokens are an estimate, because the provider told none. */
    estimated: integer({ mode: 'boolean' }).notNull(),
    /** Null where the model has no price. */
    cost: integer(),
    latency_ms: integer(),
    first_token_ms: integer(),
    /** Of the reply; 499 where the caller left first, 0 where the process died before it could be told. */
    status: integer().notNull(),
    error: text(),
    performance_mode: text(),
    user: text(),
    tags: text({ mode: 'json' }).$type<readonly string[]>(),
    trace: text({ mode: 'json' }).$type<Json>(),
  },
  // By time, because reports read a span of it. A request has one row all the same: its time is that of its id.
  (table) => [primaryKey({ columns: [table.created_at, table.id] })],
)

/**
 * Chat completions that were asked to be kept. What their metadata and model say is also in `completion_terms`, an
 * FTS5 table of posting lists with the same row ids: a trigger deletes from it what is deleted here.
 */
export const completions = sqliteTable(
  'completions',
  {
    /** Made from the id, so that the order of both is that of creation. */
    sequence: integer().primaryKey(),
    id: text().notNull().unique(),
    organization_id: ownerId(),
    model: text().notNull(),
    metadata: text({ mode: 'json' }).$type<JsonObject>().notNull(),
    /** As it was told, without the metadata. */
    completion: text({ mode: 'json' }).$type<JsonObject>().notNull(),
    /** Those of the request. The last column: a list, which does not tell them, does not read them. */
    messages: text({ mode: 'json' }).$type<readonly JsonObject[]>().notNull(),
  },
  (table) => [
    index('completions_of_organization').on(table.organization_id, table.sequence),
    index('completions_of_model').on(table.organization_id, table.model, table.sequence),
  ],
)

/** What keeps a deleted response: the responses that follow it, or nothing any more but that there was no time yet. */
export type ResponseDeletion = 'needed' | 'due'

/** Responses that are kept: what was asked, and the log from which the answer and its events are told again. */
export const responses = sqliteTable(
  'responses',
  {
    /** Sorts by time of creation. */
    id: text().primaryKey(),
    organization_id: ownerId(),
    /** The response that this one follows, which may be deleted. */
    previous_id: text(),
    status: text().$type<ResponseStatus>().notNull(),
    /** Null while it can be seen. */
    deletion: text().$type<ResponseDeletion>(),
    /** What the response says of itself from its beginning to its end. */
    head: text({ mode: 'json' }).$type<JsonObject>().notNull(),
    /** What a background run needs to begin; null once it is over, and for all others. */
    run: text({ mode: 'json' }).$type<JsonObject>(),
    /** Everything that happened; while it runs, only the beginning: the rest is in `response_log`. */
    log: text().notNull(),
    /** The items of the request, references resolved. The last column: who does not ask for them does not read them. */
    input: text({ mode: 'json' }).$type<readonly JsonObject[]>().notNull(),
  },
  (table) => [
    check('responses_run', sql`(${table.status} in ('queued', 'in_progress')) = (${table.run} is not null)`),
    index('responses_that_follow').on(table.organization_id, table.previous_id),
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

/** The log of a background run piece by piece, while it runs: after a kill, this is what is left of it. */
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

/** The organization that a row belongs to, and goes with. */
function ownerId() {
  return text()
    .notNull()
    .references(() => organizations.id, { onDelete: 'cascade' })
}
