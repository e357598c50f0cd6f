import type { BudgetUse } from '../../../../src/storage/ports/budgets.ts'
import type { BudgetLimit, Reservation } from '../../../../src/storage/ports/ledger.ts'
import { fundedStore } from './ledger-fixture.ts'
import type { OpenStore } from './stores.ts'

/** An organization with that balance, and budgets of it. */
export async function budgetedStore(open: OpenStore, balance = 0n) {
  const funded = await fundedStore(open, balance)
  const { store, acme } = funded
  /** What was spent, is reserved, held and allocated of the budget of this owner. */
  const use = async (owner: string, start = 0) => {
    const [found] = await store.budgets.read(acme.id, [{ owner, start }])
    return found === undefined ? undefined : amountsOf(found)
  }
  /** A reservation that counts against these budgets. */
  const counted = (amount: bigint, budgets: readonly BudgetLimit[], prepaid = false): Reservation => ({
    ...funded.reservation(amount),
    prepaid,
    budgets,
  })
  return { ...funded, use, counted }
}

/** A budget without periods, unless a start is given. */
export function budgetOf(owner: string, limit: bigint, start = 0): BudgetLimit {
  return { owner, start, limit }
}

function amountsOf({ spent, reserved, held, allocated }: BudgetUse) {
  return [spent, reserved, held, allocated]
}
