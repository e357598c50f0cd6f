import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Api } from '../../domain/accounting/request-metadata.ts'
import type { TotalsWidth } from '../usage/slices.ts'
import type { NamedLevel } from '../usage/sums.ts'
import { ownerId } from './organizations.ts'

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
    tags: text(),
    trace: text(),
    /** The project of the key at the time of the request; null for a key without one. */
    project_id: text(),
    /** The session that the client named. */
    session: text(),
    /** JSON, see `RequestDetails`; null if there is nothing to say. */
    details: text(),
  },
  // By time, because reports read a range of it. Still one row per request, because the time is part of its id.
  (table) => [primaryKey({ columns: [table.created_at, table.id] })],
)

/** The columns of totals, beside their organization. */
const totalsColumns = () => ({
  width: text().$type<TotalsWidth>().notNull(),
  /** When the period begins. */
  start: integer().notNull(),
  key_id: text().notNull(),
  api: text().$type<Api>().notNull(),
  /** The slug; empty if the requests name no existing model. */
  model: text().notNull(),
  /** Empty if no provider was reached. */
  provider: text().notNull(),
  /**
   * The project of the requests, and how many of them are in it: none, all, or -1 if they are of several. Older versions
   * do not change either, so that any other number means the same as -1.
   */
  project_id: text(),
  in_project: integer().notNull().default(0),
  requests: integer().notNull(),
  failed: integer().notNull(),
  client_errors: integer().notNull(),
  server_errors: integer().notNull(),
  prompt_tokens: integer().notNull(),
  completion_tokens: integer().notNull(),
  cached_tokens: integer().notNull(),
  cache_write_tokens: integer().notNull(),
  reasoning_tokens: integer().notNull(),
  /** Requests with tokens whose cost is known, and those whose cost is not. */
  priced: integer().notNull(),
  unpriced: integer().notNull(),
  cost: integer().notNull(),
  /** Rounded milliseconds and the number of successful requests that took them, by turns. */
  latencies: text().notNull(),
  first_tokens: text().notNull(),
})

/** What requests asked and what was answered, of keys for which an operator has switched it on. */
export const content_log = sqliteTable(
  'content_log',
  {
    /** Those of the usage row. */
    created_at: integer().notNull(),
    request_id: text().notNull(),
    organization_id: ownerId(),
    /** JSON, see `ContentRecorder`. */
    content: text().notNull(),
  },
  ({ created_at, request_id, organization_id }) => [
    primaryKey({ columns: [created_at, request_id] }),
    index('content_log_of_organization').on(organization_id, request_id),
  ],
)

/**
 * The sums of `usage` by hour and by day of UTC, so that a report does not read a row for each request. They cover the
 * rows that were created before `usage_rollup.until`; reports add the others from `usage` itself.
 */
export const usage_totals = sqliteTable(
  'usage_totals',
  { organization_id: ownerId(), ...totalsColumns() },
  ({ organization_id, width, start, key_id, api, model, provider }) => [
    primaryKey({ columns: [organization_id, width, start, key_id, api, model, provider] }),
  ],
)

/**
 * The sums of `usage` for reports about all organizations, which would have to read the totals of each: of all together, with
 * an empty organization, by hour and by day, and of each by day, with an empty API, model and provider. None have a key or a
 * project. They cover the rows that are part of the totals, and were created at `usage_rollup.summed_from` or later.
 */
export const usage_sums = sqliteTable(
  'usage_sums',
  { organization_id: text().notNull(), ...totalsColumns() },
  ({ organization_id, width, start, key_id, api, model, provider }) => [
    primaryKey({ columns: [organization_id, width, start, key_id, api, model, provider] }),
  ],
)

/**
 * The sums of `usage` by what clients have named, which totals do not have: of each user, session and combination of tags by
 * day, of each organization, and of all together with an empty organization. None have a key, a model or the like. They cover
 * the rows that are part of the totals, and were created at `usage_rollup.named_from` or later, or `all_named_from` if they
 * are of all together.
 */
export const usage_names = sqliteTable(
  'usage_names',
  {
    organization_id: text().notNull(),
    level: text().$type<NamedLevel>().notNull(),
    ...totalsColumns(),
    /** The user, the session, or the tags as JSON; empty for requests without. */
    value: text().notNull(),
  },
  ({ organization_id, level, width, start, key_id, api, model, provider, value }) => [
    primaryKey({ columns: [organization_id, level, width, start, key_id, api, model, provider, value] }),
  ],
)

/** One row: the time before which all rows of `usage` are part of `usage_totals`. */
export const usage_rollup = sqliteTable(
  'usage_rollup',
  {
    id: integer().primaryKey(),
    until: integer().notNull(),
    /** See `usage_sums`; 0 but for some time after the upgrade of a database that had none. */
    summed_from: integer().notNull().default(0),
    /** The same of `usage_names`. */
    named_from: integer().notNull().default(0),
    all_named_from: integer().notNull().default(0),
  },
  (table) => [check('usage_rollup_one_row', sql`${table.id} = 1`)],
)

/**
 * Where to look for the rows of `usage` with a property, without an index for each: `usage` is divided into blocks of some
 * hundred rows by time, and a row here says that a block has such a row. A block begins where the one before ends. The newest
 * rows are in no block yet.
 */
export const usage_blocks = sqliteTable(
  'usage_blocks',
  {
    /** A hash of the property, so that a deleted user leaves nothing readable; 0 is a property of every block. */
    property: integer().notNull(),
    /** The exclusive end of the block. */
    until: integer().notNull(),
  },
  ({ property, until }) => [
    primaryKey({ columns: [property, until] }),
    index('usage_blocks_by_end').on(until),
  ],
)
