import { sql } from 'drizzle-orm'
import { blob, check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { BudgetPeriod } from '../../domain/accounting/allowance.ts'
import type { BillingMode } from '../../domain/accounting/organization.ts'
import type { EntryKind } from '../ports/ledger-entries.ts'

// The tables of both databases, as SQLite has them; `postgres.ts` derives those of PostgreSQL.
//
// Timestamps are milliseconds since 1970, amounts are nano-dollars. A balance stays within 2^53 - 1 of zero (9 million
// USD, held by a check), so both are exact as numbers; a sum over many rows must be read as a bigint. The same holds for what is spent of a budget.
//
// Each page that a request changes is written once more to the log of SQLite. So `usage`, `ledger` and `reservations`, of
// which every paid request has rows, and `usage_totals` are `WITHOUT ROWID` there, which the migrations say and Drizzle does
// not know: each is one tree, with its newest rows together at the end.

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
    ...allowanceColumns(),
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

/** Persons, teams or applications within an organization. One that was deleted stays, so that its name can be shown. */
export const projects = sqliteTable(
  'projects',
  {
    id: text().primaryKey(),
    organization_id: ownerId(),
    name: text().notNull(),
    ...allowanceColumns(),
    created_at: integer().notNull(),
    /** Null while it exists: keys of a deleted project are rejected. */
    deleted_at: integer(),
  },
  (table) => [index('projects_of_organization').on(table.organization_id)],
)

/** The columns of a key with a secret. */
function secretColumns() {
  return {
    public_id: text().primaryKey(),
    name: text().notNull(),
    /** SHA-256 of the secret. */
    secret_hash: blob({ mode: 'buffer' }).notNull(),
    last4: text().notNull(),
    created_at: integer().notNull(),
    expires_at: integer(),
    revoked_at: integer(),
  }
}

/** API keys. No foreign key, so that the key of a deleted organization stays, and its client gets a specific error. */
export const api_keys = sqliteTable(
  'api_keys',
  {
    ...secretColumns(),
    organization_id: text().notNull(),
    /** The id of the key that a rotation created. */
    replaced_by: text(),
    project_id: text(),
    /** The key that created this one out of its own budget: what limits that one limits this one, too. */
    parent_id: text(),
    /** The period of the budget of that key in which the budget of this one is allocated; null once it was returned. */
    allocated_in: integer(),
    /** The key whose budget and rate limits this one shares, because it replaces that one; null for its own. */
    limits_id: text(),
    ...allowanceColumns(),
    /** Arrays as JSON. */
    permissions: text().notNull().default('[]'),
    tags: text().notNull().default('[]'),
    note: text(),
    /** Whether the content of its requests is kept in `content_log`. */
    content_log: integer({ mode: 'boolean' }).notNull().default(false),
    /** The `expires_at` for which there is a webhook event. */
    expiry_notified: integer(),
  },
  (table) => [
    index('api_keys_of_organization').on(table.organization_id),
    index('api_keys_of_parent')
      .on(table.parent_id)
      .where(sql`${table.parent_id} is not null`),
    index('api_keys_allocated')
      .on(table.public_id)
      .where(sql`${table.allocated_in} is not null`),
    index('api_keys_expiring')
      .on(table.expires_at)
      .where(sql`${table.expires_at} is not null and ${table.revoked_at} is null`),
  ],
)

/** The keys of operators, which belong to no organization. */
export const admin_keys = sqliteTable('admin_keys', {
  ...secretColumns(),
  /** An array as JSON; null for a key of an earlier version, which reads and writes. */
  permissions: text(),
})

/**
 * What is spent of the budget of an organization, a project or a key in one period. The period is part of the key: a budget
 * is reset by a new row. Only transactions that have locked the organization change it.
 */
export const budgets = sqliteTable(
  'budgets',
  {
    /** The id of the organization, the project or the key. */
    owner_id: text().notNull(),
    /** When the period begins, in milliseconds since 1970; 0 for a budget without periods. */
    start: integer().notNull(),
    organization_id: ownerId(),
    /** The cost of the requests that were reserved in the period. */
    spent: integer().notNull().default(0),
    /** The sum of the open reservations. */
    reserved: integer().notNull().default(0),
    /** What requests of killed servers have reserved beyond their charge: their providers may have finished them. */
    held: integer().notNull().default(0),
    /** What the budgets of keys that this key created have taken, and not returned. */
    allocated: integer().notNull().default(0),
    /** The highest share of the budget, in percent, for which there is a webhook event. */
    notified: integer().notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.owner_id, table.start] }),
    index('budgets_of_organization').on(table.organization_id),
    check('budgets_reserved', sql`${table.reserved} >= 0`),
  ],
)

/** The reservations of open requests: those of a process that died are settled by others, or at the next start. */
export const reservations = sqliteTable('reservations', {
  request_id: text().primaryKey(),
  organization_id: ownerId(),
  amount: integer().notNull(),
  /** Whether the balance pays; otherwise only budgets count it. */
  prepaid: integer({ mode: 'boolean' }).notNull().default(true),
  /** The budgets that it counts against, as JSON: `[["key id", start], …]`; null without any. */
  budgets: text(),
  /** The charge if the process dies and only the prompt is known. */
  prompt_cost: integer().notNull(),
  prompt_tokens: integer().notNull(),
  /** The metadata for its usage row. */
  request: text().notNull(),
  /** The process that settles it; null in SQLite, which one process uses. */
  process_id: text(),
})

/**
 * Every change of a balance; the entries of an organization add up to its balance. They are kept as long as it exists, and
 * listed by their ids, which begin with the time. In SQLite, the entries of an organization are together.
 */
export const ledger = sqliteTable(
  'ledger',
  {
    id: text().notNull(),
    organization_id: ownerId(),
    created_at: integer().notNull(),
    kind: text().$type<EntryKind>().notNull(),
    /** The change of the balance. */
    amount: integer().notNull(),
    request_id: text(),
    note: text(),
  },
  (table) => [
    primaryKey({ columns: [table.organization_id, table.id] }),
    // Charges, of which there may be a million between two credits, have no entry in it.
    index('ledger_credits')
      .on(table.organization_id, table.id)
      .where(sql`${table.kind} = 'credit'`),
    check(
      'ledger_amount',
      sql`(${table.kind} = 'credit' and ${table.amount} <> 0) or (${table.kind} = 'charge' and ${table.amount} < 0)`,
    ),
  ],
)

/** The organization of a row; deleting it deletes the row. */
export function ownerId() {
  return text()
    .notNull()
    .references(() => organizations.id, { onDelete: 'cascade' })
}

/** The columns of an allowance. */
function allowanceColumns() {
  return {
    budget: integer(),
    budget_period: text().$type<BudgetPeriod>().notNull().default('none'),
    budget_time_zone: text().notNull().default('UTC'),
    requests_per_minute: integer(),
    tokens_per_minute: integer(),
    concurrent_requests: integer(),
    /** An array as JSON; null is every model. */
    models: text(),
    enabled: integer({ mode: 'boolean' }).notNull().default(true),
  }
}
