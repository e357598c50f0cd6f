import type { BudgetKey } from '../ports/budgets.ts'

/** The budgets of one reservation: those of an organization, a project and a key. */
export const maxBudgets = 3

/** Returns the budgets of a reservation as its row stores them; null without any. */
export function printBudgets(budgets: readonly BudgetKey[]): string | null {
  if (budgets.length > maxBudgets) throw new Error('A reservation has too many budgets.')
  return budgets.length === 0 ? null : JSON.stringify(budgets.map(({ owner, start }) => [owner, start]))
}

/** Parses the budgets of a stored reservation. */
export function parseBudgets(stored: string | null): readonly BudgetKey[] {
  if (stored === null) return []
  const pairs = JSON.parse(stored) as readonly (readonly [owner: string, start: number])[]
  return pairs.map(([owner, start]) => ({ owner, start }))
}
