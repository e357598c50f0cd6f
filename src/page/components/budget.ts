import { parseUsd } from '../../lib/usd.ts'
import type { Budget } from '../api/objects.ts'
import { exactUsd, formatTime } from './format.ts'

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
