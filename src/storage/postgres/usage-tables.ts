import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, numeric, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Api } from '../../domain/accounting/request-metadata.ts'
import type { TotalsWidth } from '../common/usage-totals.ts'

const number = () => bigint({ mode: 'number' })
const histogram = () => integer().array().notNull().default([])

/**
 * The sums of `usage` by hour and by day of UTC, so that a report does not read a row for each request. They cover the
 * rows that were created before `usage_rollup.until` and are not in `usage_late`; reports add the others.
 */
export const usage_totals = pgTable(
  'usage_totals',
  {
    organization_id: text().notNull(),
    width: text().$type<TotalsWidth>().notNull(),
    /** When the period begins. */
    start: number().notNull(),
    key_id: text().notNull(),
    api: text().$type<Api>().notNull(),
    /** The slug; empty if the requests name no existing model. */
    model: text().notNull(),
    /** Empty if no provider was reached. */
    provider: text().notNull(),
    requests: number().notNull().default(0),
    failed: number().notNull().default(0),
    client_errors: number().notNull().default(0),
    server_errors: number().notNull().default(0),
    prompt_tokens: number().notNull().default(0),
    completion_tokens: number().notNull().default(0),
    cached_tokens: number().notNull().default(0),
    cache_write_tokens: number().notNull().default(0),
    reasoning_tokens: number().notNull().default(0),
    /** Requests with tokens whose cost is known, and those whose cost is not. */
    priced: number().notNull().default(0),
    unpriced: number().notNull().default(0),
    cost: numeric().notNull().default('0'),
    /** Rounded milliseconds, and at the same place the number of successful requests that took them. */
    latency_times: histogram(),
    latency_counts: histogram(),
    first_token_times: histogram(),
    first_token_counts: histogram(),
  },
  ({ organization_id, width, start, key_id, api, model, provider }) => [
    primaryKey({
      name: 'usage_totals_key',
      columns: [organization_id, width, start, key_id, api, model, provider],
    }),
    // For reports about all organizations.
    index('usage_totals_by_start').on(width, start),
  ],
)

/**
 * One row. `until` is the time before which rows are part of the totals. A request that was created before `fence` and is
 * recorded after that was set is late; the totals are never extended beyond it.
 */
export const usage_rollup = pgTable(
  'usage_rollup',
  { id: integer().primaryKey(), until: number().notNull(), fence: number().notNull() },
  (table) => [check('usage_rollup_one_row', sql`${table.id} = 1`)],
)

/** The rows of `usage` that were recorded late, and are not part of the totals yet. */
export const usage_late = pgTable(
  'usage_late',
  { created_at: number().notNull(), id: text().notNull() },
  (table) => [primaryKey({ columns: [table.created_at, table.id] })],
)
