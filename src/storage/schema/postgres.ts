import { getTableColumns, sql } from 'drizzle-orm'
import {
  bigint,
  index,
  integer,
  numeric,
  type PgColumn,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import * as audit from './audit.ts'
import * as money from './organizations.ts'
import * as stored from './stored.ts'
import { type Differences, toPostgres } from './to-postgres.ts'
import * as recorded from './usage.ts'
import * as webhooks from './webhooks.ts'

// The tables of PostgreSQL, for its migrations and for copies of a database. Statements of both databases are built from
// those of SQLite.

export { processes, rate_limit_buckets, slot_leases, transactions, usage_late } from './cluster.ts'

const number = () => bigint({ mode: 'number' })
const histogram = () => integer().array().notNull().default([])

export const organizations = toPostgres(money.organizations)
export const projects = toPostgres(money.projects)

export const api_keys = toPostgres(money.api_keys, {
  // The order of creation within a millisecond, which SQLite has in the row id.
  columns: { position: number().generatedAlwaysAsIdentity() },
  indexes: (columns) => [
    index('api_keys_of_organization').on(...columns('organization_id')),
    index('api_keys_of_parent')
      .on(...columns('parent_id'))
      .where(sql`parent_id is not null`),
    index('api_keys_allocated')
      .on(...columns('public_id'))
      .where(sql`allocated_in is not null`),
    index('api_keys_expiring')
      .on(...columns('expires_at'))
      .where(sql`expires_at is not null and revoked_at is null`),
    index('api_keys_by_position').on(...columns('position')),
  ],
})

export const admin_keys = toPostgres(money.admin_keys)
export const budgets = toPostgres(money.budgets, { keyName: 'budgets_key' })
export const reservations = toPostgres(money.reservations)
/** Its key is that of earlier versions, which still run during an upgrade. */
export const ledger = toPostgres(money.ledger, {
  columns: { id: text().primaryKey() },
  ownKey: true,
  indexes: (columns) => [
    index('ledger_of_organization').on(...columns('organization_id', 'id')),
    index('ledger_credits')
      .on(...columns('organization_id', 'id'))
      .where(sql`kind = 'credit'`),
  ],
})

export const provider_state = toPostgres(stored.provider_state)

/** The ids of two processes may have the same sequence; the search terms are those of the model and the metadata. */
export const completions = toPostgres(stored.completions, {
  columns: { sequence: number().notNull(), id: text().primaryKey(), terms: uuid().array().notNull() },
  indexes: (columns) => [
    index('completions_by_age').on(...columns('sequence', 'id')),
    index('completions_of_organization').on(...columns('organization_id', 'sequence', 'id')),
    index('completions_of_model').on(...columns('organization_id', 'model', 'sequence', 'id')),
    // Without a pending list, which a request would have to sort in now and then.
    index('completions_by_term')
      .using('gin', ...columns('terms'))
      .with({ fastupdate: 'off' }),
  ],
})

export const responses = toPostgres(stored.responses)
export const response_log = toPostgres(stored.response_log, { columns: { position: integer().notNull() } })
export const runs = toPostgres(stored.runs)

/** When a deleted response may be erased: until then, a process may be about to store a response that follows it. */
export const response_erasures = pgTable('response_erasures', {
  response_id: text()
    .primaryKey()
    .references((): PgColumn => responseId, { onDelete: 'cascade' }),
  not_before: number().notNull(),
})

const { id: responseId } = getTableColumns(responses) as unknown as Readonly<Record<'id', PgColumn>>

export const usage = toPostgres(recorded.usage, { columns: { status: integer().notNull() } })

export const content_log = toPostgres(recorded.content_log, { keyName: 'content_log_key' })

const count = () => number().notNull().default(0)

/** Totals: for the times, milliseconds, and at the same place the number of successful requests that took them. */
const totals: Differences = {
  columns: {
    requests: count(),
    failed: count(),
    client_errors: count(),
    server_errors: count(),
    prompt_tokens: count(),
    completion_tokens: count(),
    cached_tokens: count(),
    cache_write_tokens: count(),
    reasoning_tokens: count(),
    priced: count(),
    unpriced: count(),
    cost: numeric().notNull().default('0'),
    latency_times: histogram(),
    latency_counts: histogram(),
    first_token_times: histogram(),
    first_token_counts: histogram(),
  },
  without: ['latencies', 'first_tokens'],
}

export const usage_totals = toPostgres(recorded.usage_totals, {
  ...totals,
  keyName: 'usage_totals_key',
  // For reports about all organizations.
  indexes: (columns) => [index('usage_totals_by_start').on(...columns('width', 'start'))],
})

export const usage_sums = toPostgres(recorded.usage_sums, {
  ...totals,
  keyName: 'usage_sums_key',
  indexes: (columns) => [index('usage_sums_by_start').on(...columns('width', 'start'))],
})

/** The key has a hash of the value, which may be longer than what an index holds. */
export const usage_names = toPostgres(recorded.usage_names, {
  ...totals,
  ownKey: true,
  indexes: (columns) => [
    uniqueIndex('usage_names_key').on(
      ...columns('organization_id', 'level', 'width', 'start', 'api', 'model', 'provider'),
      sql`md5(value)`,
    ),
    index('usage_names_by_start').on(...columns('level', 'width', 'start')),
  ],
})

/**
 * A request that was created before `fence` and is recorded after that was set is late; the totals are never extended
 * beyond it.
 */
export const usage_rollup = toPostgres(recorded.usage_rollup, {
  columns: {
    id: integer().primaryKey(),
    fence: number().notNull(),
    // The end of time: nothing is part of the sums as long as servers of an earlier version run.
    summed_from: number().notNull().default(8_640_000_000_000_000),
    named_from: number().notNull().default(8_640_000_000_000_000),
    all_named_from: number().notNull().default(8_640_000_000_000_000),
  },
})

export const webhook_events = toPostgres(webhooks.webhook_events)
export const webhook_deliveries = toPostgres(webhooks.webhook_deliveries, {
  keyName: 'webhook_deliveries_key',
})
export const provider_outages = toPostgres(webhooks.provider_outages)
export const usage_blocks = toPostgres(recorded.usage_blocks, { keyName: 'usage_blocks_key' })
export const audit_entries = toPostgres(audit.audit_entries)
