import type { Nanos } from '../../lib/usd.ts'
import type { BudgetKey } from '../ports/budgets.ts'

/** The budgets of one reservation: those of an organization, a project and a key. */
export const maxBudgets = 3

/** A budget of a reservation, with its amount at that time; reservations of earlier versions have none. */
export type ReservedBudget = BudgetKey & { readonly limit?: Nanos }

/** Returns the budgets of a reservation as its row stores them; null without any. */
export function printBudgets(budgets: readonly ReservedBudget[]): string | null {
  if (budgets.length > maxBudgets) throw new Error('A reservation has too many budgets.')
  if (budgets.length === 0) return null
  return JSON.stringify(budgets.map(({ owner, start, limit }) => [owner, start, Number(limit)]))
}

/** Parses the budgets of a stored reservation. */
export function parseBudgets(stored: string | null): readonly ReservedBudget[] {
  if (stored === null) return []
  const budgets = JSON.parse(stored) as readonly (readonly [owner: string, start: number, limit?: number])[]
  return budgets.map(([owner, start, limit]) => ({
    owner,
    start,
    ...(limit !== undefined && { limit: BigInt(limit) }),
  }))
}
