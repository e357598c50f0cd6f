import { type Allowance, type AllowanceChange, noLimits } from '../../domain/accounting/allowance.ts'
import { formatRoundedUsd, formatUsd, type Nanos } from '../../lib/usd.ts'
import { type BudgetState, budgetLeft } from '../../http/render-limits.ts'
import { type Column, type DetailRow, rightColumn } from '../output.ts'

/** Formats what is left of a budget for a table: `3.2150 of 5.00 a day`; `-` for no budget. */
export function budgetCell({ budget, budgetPeriod }: Allowance, state: BudgetState | undefined): string {
  if (budget === null) return '-'
  const left = state === undefined ? budget : budgetLeft(budget, state.use)
  // The budget of a run of an agent is a few cents, of which a request costs a thousandth.
  const decimals = budget < oneUsd ? 6 : 4
  return `${shortUsd(left, decimals)} of ${formatUsd(budget)}${periodText(budgetPeriod)}`
}

const oneUsd = 1_000_000_000n

/** Formats a budget that is not used yet for a table: `5.00 a day`; `-` for no budget. */
export function newBudgetCell({ budget = null, budgetPeriod = 'none' }: AllowanceChange): string {
  return budget === null ? '-' : `${formatUsd(budget)}${periodText(budgetPeriod)}`
}

/** Rounds to these decimals, and omits zeros at the end but for two. */
function shortUsd(amount: Nanos, decimals: number): string {
  return formatRoundedUsd(amount, decimals).replace(/(?<=\.\d\d+?)0+$/, '')
}

function periodText(period: Allowance['budgetPeriod']): string {
  return period === 'none' ? '' : ` a ${period}`
}

/** Formats a list of models for a table: the first one, and how many follow. */
export function modelsCell({ models }: Allowance): string {
  if (models === null) return 'all'
  const [first, ...others] = models
  if (first === undefined) return 'none'
  return others.length === 0 ? first : `${first} +${others.length}`
}

/** Formats a rate limit; `unlimited` is the word for null. */
export function limitCell(limit: number | null, unlimited: string): string {
  return limit?.toLocaleString('en-US') ?? unlimited
}

/** Formats a time to the minute, in UTC. */
export function timeCell(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')}Z`
}

/** Returns the columns of what is left of the budget and of limits; `unlimited` is the word for no rate limit. */
export function limitColumns(unlimited: string): readonly Column<{
  readonly account: { readonly limits: Allowance }
  readonly state: BudgetState | undefined
}>[] {
  return [
    { title: 'BUDGET LEFT', value: ({ account, state }) => budgetCell(account.limits, state) },
    rightColumn('REQUESTS/MIN', ({ account }) => limitCell(account.limits.requestsPerMinute, unlimited), 2),
    rightColumn('TOKENS/MIN', ({ account }) => limitCell(account.limits.tokensPerMinute, unlimited), 2),
    rightColumn('CONCURRENT', ({ account }) => limitCell(account.limits.concurrentRequests, unlimited), 2),
    { title: 'MODELS', value: ({ account }) => modelsCell(account.limits), dropOrder: 3 },
  ]
}

/**
 * Returns the rows of limits and of what is left of the budget; `unlimited` is the word for no rate limit, and `parent` the
 * key out of whose budget that of a key is.
 */
export function limitRows(
  limits: Allowance,
  state: BudgetState | undefined,
  unlimited: 'none' | 'default',
  parent: string | null = null,
): readonly DetailRow[] {
  return [
    ...budgetRows(limits, state, parent),
    ['Requests per minute', limitCell(limits.requestsPerMinute, unlimited)],
    ['Tokens per minute', limitCell(limits.tokensPerMinute, unlimited)],
    ['Concurrent requests', limitCell(limits.concurrentRequests, unlimited)],
    ['Models', limits.models === null ? 'all' : limits.models.join(', ') || 'none'],
  ]
}

function budgetRows(
  limits: Allowance,
  state: BudgetState | undefined,
  parent: string | null,
): readonly DetailRow[] {
  const { budget, budgetPeriod, budgetTimeZone } = limits
  if (budget === null || state === undefined) return [['Budget', 'none']]
  const { use, period } = state
  const zone = budgetTimeZone === noLimits.budgetTimeZone ? '' : ` (${budgetTimeZone})`
  const resets = period.end === undefined ? undefined : `${timeCell(period.end)}${zone}`
  return [
    ['Budget', `${formatUsd(budget)} USD${periodText(budgetPeriod)}`],
    ['  left', `${formatUsd(budgetLeft(budget, use))} USD`],
    ['  spent', `${formatUsd(use.spent)} USD`],
    ['  reserved', amountAboveZero(use.reserved, 'by open requests')],
    ['  held', amountAboveZero(use.held, 'for requests of killed servers')],
    // A key that another one has created cannot create others: its own end has returned what was left.
    parent === null
      ? ['  allocated', amountAboveZero(use.allocated, 'to keys that this one has created')]
      : [
          '  returned',
          amountAboveZero(use.allocated, `to the API key ${parent}, which has created this one`),
        ],
    ['  reset at', resets],
  ]
}

function amountAboveZero(amount: Nanos, purpose: string): string | undefined {
  return amount === 0n ? undefined : `${formatUsd(amount)} USD ${purpose}`
}
