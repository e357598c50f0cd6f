import { sql } from 'drizzle-orm'
import { blob, check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Json } from '../lib/json.ts'

// Timestamps are milliseconds since 1970, amounts are nano-dollars. A balance stays between nothing and 2^53 - 1
// (9 million USD, held by a check), so both are exact as numbers; a sum over many rows must be read as a bigint.

/** How an organization pays: with a balance, not at all, or not yet: its calls are refused. */
export type Billing = 'unmetered' | 'prepaid' | 'none'

/** Who owns keys, data, limits and a balance. */
export const organizations = sqliteTable(
  'organizations',
  {
    id: text().primaryKey(),
    name: text().notNull().unique(),
    billing: text().$type<Billing>().notNull().default('unmetered'),
    balance: integer().notNull().default(0),
    requests_per_minute: integer(),
    tokens_per_minute: integer(),
    concurrent_requests: integer(),
    created_at: integer().notNull(),
  },
  (table) => [
    check('organizations_billing', sql`${table.billing} in ('unmetered', 'prepaid', 'none')`),
    check('organizations_balance', sql`${table.balance} between 0 and 9007199254740991`),
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
    organization_id: text()
      .notNull()
      .references(() => organizations.id, { onDelete: 'cascade' }),
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
