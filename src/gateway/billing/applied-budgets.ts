import type { Budget } from '../../domain/accounting/allowance.ts'
import { periodAt } from '../../domain/accounting/budget-period.ts'
import { budgetExceeded } from '../../lib/errors/access-errors.ts'
import type { ApiError } from '../../lib/errors/errors.ts'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import type { BudgetLimit, ReservationRejection } from '../../storage/ports/ledger.ts'

/** The budgets of a request in their periods at this time, in milliseconds since 1970. */
export function budgetLimitsAt(budgets: readonly Budget[], now: number): readonly BudgetLimit[] {
  return budgets.map(({ owner, amount, period, timeZone }) => {
    return { owner, start: periodAt(period, timeZone, now).start, limit: amount }
  })
}

/** The 402 of a request that may cost this much, which a budget does not cover; undefined if it was rejected for the balance. */
export function budgetRejection(
  { budget: exceeded, available }: ReservationRejection,
  budgets: readonly Budget[],
  cost: Nanos,
  now: number,
): ApiError | undefined {
  const budget = budgets.find(({ owner }) => owner === exceeded?.owner)
  if (exceeded === null || budget === undefined) return undefined
  const { end } = periodAt(budget.period, budget.timeZone, exceeded.start)
  return budgetExceeded({
    owner: budget.kind,
    name: budget.name,
    limit: formatUsd(budget.amount),
    period: budget.period,
    cost: formatUsd(cost),
    left: formatUsd(available > 0n ? available : 0n),
    reset: end === undefined ? undefined : { at: new Date(end), inMs: end - now },
  })
}
