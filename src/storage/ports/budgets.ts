import type { Nanos } from '../../lib/usd.ts'

/** The use of a budget in one period. */
export type BudgetUse = {
  /** The cost of the requests that were reserved in the period. */
  readonly spent: Nanos
  /** The sum of the open reservations. */
  readonly reserved: Nanos
  /** What requests of killed servers have reserved beyond their charge: their providers may have finished them. */
  readonly held: Nanos
  /** What the budgets of keys that its owner created have taken. */
  readonly allocated: Nanos
}

/** A budget, by the id of its owner and the beginning of its period. */
export type BudgetKey = { readonly owner: string; readonly start: number }

/** The budgets and their use. */
export type BudgetQueries = {
  /** Reads budgets of an organization, in the order of the keys. */
  read(organizationId: string, keys: readonly BudgetKey[]): Promise<readonly BudgetUse[]>
}

/** The budgets, and their changes by one actor. */
export type Budgets = BudgetQueries & {
  /** Releases what is held of a budget, when the bill of the provider is known; resolves with the amount. */
  releaseHeld(organizationId: string, key: BudgetKey): Promise<Nanos>
}
