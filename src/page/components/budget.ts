import { parseUsd } from '../../lib/usd.ts'
import { exactUsd, formatTime } from './format.ts'

/** How often a budget is reset, by the calendar. */
export type BudgetPeriod = 'day' | 'week' | 'month' | 'none'

/** What is left of a budget in its period, as the API returns it. Amounts are decimal texts. */
export type Budget = {
  readonly limit_usd: string
  readonly spent_usd: string
  readonly reserved_usd: string
  readonly held_usd: string
  readonly allocated_usd: string
  readonly left_usd: string
  /** Null for a budget without periods. */
  readonly resets_at: string | null
}

const kinds = ['spent', 'reserved', 'held', 'allocated'] as const

type BudgetPart = {
  readonly kind: (typeof kinds)[number]
  readonly usd: string
  /** Of the budget, or of what is used if that is more; from 0 to 1. */
  readonly share: number
}

/** The parts of a budget that are used, in the order in which they are shown. */
export function budgetParts(budget: Budget): readonly BudgetPart[] {
  const used = usedOf(budget)
  const limit = nanosOf(budget.limit_usd)
  const whole = used > limit ? used : limit
  return kinds.map((kind) => {
    const usd = budget[`${kind}_usd`]
    return { kind, usd, share: whole === 0n ? 0 : Number(nanosOf(usd)) / Number(whole) }
  })
}

/** A budget in one sentence, for assistive technology: parts of zero are not named. */
export function budgetText(budget: Budget): string {
  const parts = budgetParts(budget).filter(({ kind, usd }) => kind === 'spent' || nanosOf(usd) > 0n)
  const used = parts.map(({ kind, usd }) => `${exactUsd(usd)} ${kind}`).join(', ')
  const reset = budget.resets_at === null ? 'never reset' : `reset ${formatTime(budget.resets_at)}`
  return `${used} of ${exactUsd(budget.limit_usd)}; ${exactUsd(budget.left_usd)} left; ${reset}`
}

/** What is used of a budget, in nano-dollars. */
export function usedOf(budget: Budget): bigint {
  return kinds.reduce((sum, kind) => sum + nanosOf(budget[`${kind}_usd`]), 0n)
}

/** The nano-dollars of an amount of the API. */
export function nanosOf(usd: string): bigint {
  return parseUsd(usd) ?? 0n
}
