import { parseUsd } from '../../../src/lib/usd.ts'
import type { BillingDatabase } from '../../support/billing-database.ts'

/** The parts of a budget, in USD. */
type Use = Readonly<Partial<Record<'spent' | 'reserved' | 'held' | 'allocated', string>>>

/** Writes what is used of a budget without periods, of the organization, project or key with this ID in `default`. */
export async function spendBudget(billing: BillingDatabase, owner: string, use: Use): Promise<void> {
  const amount = (usd = '0') => Number(parseUsd(usd))
  await billing.rows(
    `INSERT INTO budgets (owner_id, start, organization_id, spent, reserved, held, allocated)
      SELECT ?, 0, id, ?, ?, ?, ? FROM organizations WHERE name = 'default'`,
    owner,
    amount(use.spent),
    amount(use.reserved),
    amount(use.held),
    amount(use.allocated),
  )
}
