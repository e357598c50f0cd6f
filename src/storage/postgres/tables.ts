import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  customType,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import type { BillingMode } from '../../domain/accounting/organization.ts'
import type { Api } from '../../domain/accounting/request-metadata.ts'
import type { ResponseStatus } from '../ports/responses.ts'

// Timestamps are milliseconds since 1970, amounts are nano-dollars, as in SQLite. JSON is stored as text: it is sent to
// clients unread, and `jsonb` rejects some of what JSON allows. The row of an organization is never deleted, and what is
// stored for it locks that row first; so no table has a foreign key to it, which would cost every request a check.

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })
const number = () => bigint({ mode: 'number' })
const owner = () => text().notNull()

/** The owners of keys, data, limits and a balance. */
export const organizations = pgTable(
  'organizations',
  {
    id: text().primaryKey(),
    name: text().notNull().unique(),
    billing: text().$type<BillingMode>().notNull().default('unmetered'),
    /** Negative if requests cost more than was reserved for them. */
    balance: number().notNull().default(0),
    /** The sum of the open reservations. */
    reserved: number().notNull().default(0),
    requests_per_minute: number(),
    tokens_per_minute: number(),
    concurrent_requests: number(),
    created_at: number().notNull(),
    /** Null while it exists; an organization whose deletion has begun is treated as missing. */
    deletion: text().$type<'begun' | 'done'>(),
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

/** API keys. The key of a deleted organization stays, so that its client gets a specific error. */
export const api_keys = pgTable(
  'api_keys',
  {
    public_id: text().primaryKey(),
    organization_id: owner(),
    name: text().notNull(),
    /** SHA-256 of the secret. */
    secret_hash: bytea().notNull(),
    last4: text().notNull(),
    created_at: number().notNull(),
    /** The order of creation within a millisecond. */
    position: bigint({ mode: 'number' }).generatedAlwaysAsIdentity(),
    expires_at: number(),
    revoked_at: number(),
    /** The id of the key that a rotation created. */
    replaced_by: text(),
  },
  (table) => [
    index('api_keys_of_organization').on(table.organization_id),
    index('api_keys_by_position').on(table.position),
  ],
)

/** The state that a provider expects back with a later request, by tool call. */
export const provider_state = pgTable(
  'provider_state',
  {
    organization_id: owner(),
    call_id: text().notNull(),
    provider: text().notNull(),
    value: text().notNull(),
    expires_at: number().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.call_id] }),
    index('provider_state_by_expiry').on(table.expires_at),
  ],
)

/** The reservations of open requests. */
export const reservations = pgTable('reservations', {
  request_id: text().primaryKey(),
  organization_id: owner(),
  amount: number().notNull(),
  /** The charge if the process dies and only the prompt is known. */
  prompt_cost: number().notNull(),
  prompt_tokens: number().notNull(),
  /** The metadata for its usage row. */
  request: text().notNull(),
  /** The process that settles it; a row whose process is not in `processes` was left by one that died. */
  process_id: text(),
})

/** Every change of a balance; the entries of an organization add up to its balance. */
export const ledger = pgTable(
  'ledger',
  {
    id: text().primaryKey(),
    organization_id: owner(),
    created_at: number().notNull(),
    kind: text().$type<'credit' | 'charge'>().notNull(),
    /** What it adds to the balance. */
    amount: number().notNull(),
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
export const usage = pgTable(
  'usage',
  {
    /** The id of the request. */
    id: text().notNull(),
    organization_id: owner(),
    key_id: text().notNull(),
    created_at: number().notNull(),
    api: text().$type<Api>().notNull(),
    /** The slug; null if the request names no existing model. */
    model: text(),
    provider: text(),
    upstream_model: text(),
    stream: boolean().notNull(),
    prompt_tokens: number().notNull(),
    completion_tokens: number().notNull(),
    cached_tokens: number().notNull(),
    cache_write_tokens: number().notNull(),
    reasoning_tokens: number().notNull(),
    /** Whether the tokens are an estimate, because the provider reported none. */
    estimated: boolean().notNull(),
    /** Null if the model has no price. */
    cost: number(),
    latency_ms: number(),
    first_token_ms: number(),
    /** The status of the reply; 499 if the client disconnected first, 0 if the process died. */
    status: integer().notNull(),
    error: text(),
    performance_mode: text(),
    user: text(),
    tags: text(),
    trace: text(),
  },
  // By time, because reports read a range of it. Still one row per request, because the time is part of its id.
  (table) => [primaryKey({ columns: [table.created_at, table.id] })],
)

/** Stored chat completions. */
export const completions = pgTable(
  'completions',
  {
    id: text().primaryKey(),
    /** Computed from the id, so that both sort by creation; the ids of two processes may have the same one. */
    sequence: number().notNull(),
    organization_id: owner(),
    model: text().notNull(),
    metadata: text().notNull(),
    /** The search terms of the model and the metadata. */
    terms: uuid().array().notNull(),
    /** The reply without the metadata. */
    completion: text().notNull(),
    /** The messages of the request. */
    messages: text().notNull(),
  },
  (table) => [
    index('completions_by_age').on(table.sequence, table.id),
    index('completions_of_organization').on(table.organization_id, table.sequence, table.id),
    index('completions_of_model').on(table.organization_id, table.model, table.sequence, table.id),
    // Without a pending list, which a request would have to sort in now and then.
    index('completions_by_term').using('gin', table.terms).with({ fastupdate: 'off' }),
  ],
)

/** Stored responses: the request, and the log from which the response and its events are replayed. */
export const responses = pgTable(
  'responses',
  {
    /** Sorts by creation. */
    id: text().primaryKey(),
    organization_id: owner(),
    /** The predecessor, which may be deleted. */
    previous_id: text(),
    status: text().$type<ResponseStatus>().notNull(),
    /** Why a deleted response is still stored: others follow it, or it has yet to be erased. Null while it is visible. */
    deletion: text().$type<'needed' | 'due'>(),
    /** The fields that never change. */
    head: text().notNull(),
    /** The order of a background run; null once it has finished, and for all other responses. */
    run: text(),
    /** All events; during a run only the first ones: the others are in `response_log`. */
    log: text().notNull(),
    /** The items of the request, with references resolved. */
    input: text().notNull(),
  },
  (table) => [
    check('responses_run', sql`(${table.status} in ('queued', 'in_progress')) = (${table.run} is not null)`),
    index('responses_of_organization')
      .on(table.organization_id, table.id)
      .where(sql`${table.deletion} is null`),
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

/** The log of a background run in pieces, while it runs: what is left of the run if the process is killed. */
export const response_log = pgTable(
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
