import type { BudgetKey } from '../ports/budgets.ts'
import type { BudgetLimit } from '../ports/ledger.ts'

/** Returns the budgets of a reservation as its row stores them; null without any. */
export function printBudgets(budgets: readonly BudgetLimit[]): string | null {
  return budgets.length === 0 ? null : JSON.stringify(budgets.map(({ owner, start }) => [owner, start]))
}

/** Parses the budgets of a stored reservation. */
export function parseBudgets(stored: string | null): readonly BudgetKey[] {
  if (stored === null) return []
  const pairs = JSON.parse(stored) as readonly (readonly [owner: string, start: number])[]
  return pairs.map(([owner, start]) => ({ owner, start }))
}
