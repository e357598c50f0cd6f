import type { Budget, BudgetPeriod } from '../api/objects.ts'
import { Bar } from './bar.tsx'
import { budgetParts, budgetText, nanosOf, usedOf } from './budget.ts'
import { Money, Time } from './facts.tsx'
import { exactUsd } from './format.ts'

/** What is used of the budget of something, as a bar. */
function BudgetBar({ label, budget }: { readonly label: string; readonly budget: Budget }) {
  return (
    <Bar
      label={label}
      value={Number(usedOf(budget)) / 1e9}
      max={Number(nanosOf(budget.limit_usd)) / 1e9}
      text={budgetText(budget)}
      parts={budgetParts(budget)}
    />
  )
}

/** A budget in one line: the bar, what is used, and the limit. */
export function BudgetLine({ label, budget }: { readonly label: string; readonly budget: Budget }) {
  return (
    <div class="budget-line" title={budgetText(budget)}>
      <BudgetBar label={label} budget={budget} />
      <span>
        <Amount usd={budget.left_usd} /> left of <Amount usd={budget.limit_usd} />
      </span>
    </div>
  )
}

const periodWords = { day: 'per day', week: 'per week', month: 'per month', none: 'in total' } as const

/** A budget with its bar, the amount of each part, and when it is reset. */
export function BudgetFigures(props: {
  readonly label: string
  readonly budget: Budget
  readonly period: BudgetPeriod
}) {
  const { label, budget, period } = props
  return (
    <div class="meter">
      <div class="meter-labels">
        <span>{label}</span>
        <span class="number">
          <strong>{exactUsd(budget.left_usd)}</strong> left of {exactUsd(budget.limit_usd)}{' '}
          {periodWords[period]}
        </span>
      </div>
      <BudgetBar label={label} budget={budget} />
      <ul class="legend hint">
        {budgetParts(budget).map(({ kind, usd }) => (
          <li key={kind}>
            <span class={`swatch ${kind}`} /> {kind} {exactUsd(usd)}
          </li>
        ))}
        {budget.resets_at !== null && (
          <li>
            reset <Time at={budget.resets_at} />
          </li>
        )}
      </ul>
    </div>
  )
}

/** An amount with two to four decimals, exact in its title. */
function Amount({ usd }: { readonly usd: string }) {
  const decimals = usd.split('.')[1]?.length ?? 0
  return <Money usd={usd} decimals={Math.max(2, Math.min(4, decimals))} />
}
