import type { Allowance } from '../domain/accounting/allowance.ts'
import { type Period, periodAt } from '../domain/accounting/budget-period.ts'
import { formatUsd, type Nanos } from '../lib/usd.ts'
import { isoTimeOrNull } from '../lib/time.ts'
import type { BudgetKey, Budgets, BudgetUse } from '../storage/ports/budgets.ts'

/** The use of a budget in a period. */
export type BudgetState = { readonly use: BudgetUse; readonly period: Period }

/** An organization, a project or a key; `owner` is the id that its budget has. */
export type LimitsOwner = {
  readonly organizationId: string
  readonly owner: string
  readonly limits: Allowance
}

/** Returns the row of an owner's budget in the period of this time. */
export function currentBudget(
  { owner, limits }: Pick<LimitsOwner, 'owner' | 'limits'>,
  now: number,
): BudgetKey {
  return { owner, start: periodAt(limits.budgetPeriod, limits.budgetTimeZone, now).start }
}

/** Reads the budgets of these owners at this time, in their order; undefined for an owner without a budget. */
export async function readBudgetStates(
  budgets: Pick<Budgets, 'read'>,
  owners: readonly LimitsOwner[],
  now: number,
): Promise<readonly (BudgetState | undefined)[]> {
  const limited = owners.filter(({ limits }) => limits.budget !== null)
  const states = new Map<LimitsOwner, BudgetState>()
  for (const [organizationId, members] of Map.groupBy(limited, (owner) => owner.organizationId)) {
    const keys = members.map((member) => currentBudget(member, now))
    const uses = await budgets.read(organizationId, keys)
    for (const [index, member] of members.entries()) {
      const { budgetPeriod, budgetTimeZone } = member.limits
      const use = uses[index]
      if (use !== undefined) states.set(member, { use, period: periodAt(budgetPeriod, budgetTimeZone, now) })
    }
  }
  return owners.map((owner) => states.get(owner))
}

/** Returns what is left of a budget, in nano-dollars; below zero if it was lowered, or if requests cost more than reserved. */
export function budgetLeft(limit: Nanos, { spent, reserved, held, allocated }: BudgetUse): Nanos {
  return limit - spent - reserved - held - allocated
}

/** Returns limits with what is left of the budget, as the APIs return them, and the command line prints them with `--json`. */
export function renderLimits(limits: Allowance, state: BudgetState | undefined) {
  return {
    budget_usd: limits.budget === null ? null : formatUsd(limits.budget),
    budget_period: limits.budgetPeriod,
    budget_time_zone: limits.budgetTimeZone,
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent_requests: limits.concurrentRequests,
    models: limits.models,
    enabled: limits.enabled,
    budget: limits.budget === null || state === undefined ? null : renderBudget(limits.budget, state),
  }
}

/** Returns a budget with what is left of it, as the APIs return it. */
export function renderBudget(limit: Nanos, { use, period }: BudgetState) {
  return {
    limit_usd: formatUsd(limit),
    spent_usd: formatUsd(use.spent),
    reserved_usd: formatUsd(use.reserved),
    held_usd: formatUsd(use.held),
    allocated_usd: formatUsd(use.allocated),
    left_usd: formatUsd(budgetLeft(limit, use)),
    resets_at: isoTimeOrNull(period.end),
  }
}
