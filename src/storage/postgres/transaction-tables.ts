import { bigint, index, pgTable, text } from 'drizzle-orm/pg-core'

/** The transactions of the last minutes, from which the outcome of a COMMIT is known whose connection was lost. */
export const transactions = pgTable(
  'transactions',
  {
    id: text().primaryKey(),
    /** What its statement returned, as JSON. */
    results: text().notNull(),
    created_at: bigint({ mode: 'number' }).notNull(),
  },
  (table) => [index('transactions_by_age').on(table.created_at)],
)
