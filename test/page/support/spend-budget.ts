import { parseUsd } from '../../../src/lib/usd.ts'
import { isBusy } from '../../../src/storage/sqlite/sqlite-errors.ts'
import { type BillingDatabase, waitUntil } from '../../support/billing-database.ts'

/** The parts of a budget, in USD. */
type Use = Readonly<Partial<Record<'spent' | 'reserved' | 'held' | 'allocated', string>>>

/** Writes what is used of a budget without periods, of the organization, project or key with this ID in `default`. */
export async function spendBudget(billing: BillingDatabase, owner: string, use: Use): Promise<void> {
  const amount = (usd = '0') => Number(parseUsd(usd))
  const write = () =>
    billing.rows(
      `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
        SELECT ?, 0, id, ?, ?, ?, ? FROM organizations WHERE name = 'default'`,
      owner,
      amount(use.spent),
      amount(use.reserved),
      amount(use.held),
      amount(use.allocated),
    )
  // The gateway may be writing to the same SQLite file.
  const written = () =>
    write().then(
      () => true,
      (error: unknown) => {
        if (isBusy(error)) return false
        throw error
      },
    )
  await waitUntil(written, 'the budget is written')
}
