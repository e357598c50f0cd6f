import type { AllowanceChange, BudgetPeriod } from '../../domain/accounting/allowance.ts'
import { fieldsOf, withoutEmpty } from '../../lib/json/json.ts'
import { formatUsd, maxNanos, type Nanos, parseUsd } from '../../lib/usd.ts'
import { shellWord } from '../quote.ts'
import { amountOf, countOf, isTrue, type Part } from './source.ts'

/** The names of the fields that `readLimits` reads, separated by spaces. */
export const limitFields =
  'max_budget budget_duration budget_reset_at rpm_limit tpm_limit max_parallel_requests models blocked litellm_budget_table'

/**
 * Reads the budget, the limits and the models of a key or a team; what is null or absent has no limit. A budget that LiteLLM
 * has in a table of its own applies where the key itself has none.
 */
export function readLimits({ fields, path, notes }: Part): AllowanceChange {
  const shared = withoutEmpty(fieldsOf(fields.litellm_budget_table))
  const part = { fields: { ...shared, ...withoutEmpty(fields) }, path, notes }
  const rates = {
    requestsPerMinute: readLimit(part, 'rpm_limit'),
    tokensPerMinute: readLimit(part, 'tpm_limit'),
    concurrentRequests: readLimit(part, 'max_parallel_requests'),
  }
  const allowsNothing = Object.values(rates).includes(0)
  return {
    ...readBudget(part),
    ...Object.fromEntries(Object.entries(rates).filter(([, limit]) => limit)),
    ...readModels(part),
    ...((allowsNothing || isTrue(fields.blocked)) && { enabled: false }),
  }
}

/** Reads `max_budget` and `budget_duration`. */
export function readBudget({ fields, path, notes }: Part): AllowanceChange {
  const { max_budget: budget, budget_duration: duration } = fields
  if (budget === undefined || budget === null) return {}
  const amount = toNanos(budget)
  if (amount !== undefined)
    return { budget: amount, budgetPeriod: readPeriod({ fields, path, notes }, duration) }
  notes.add(`${path}.max_budget`, 'It is not an amount of at least 0; the budget is 0 until you set it.')
  return { budget: 0n }
}

/** LiteLLM stores floating-point numbers: the ninth decimal is rounded. */
function toNanos(budget: unknown): Nanos | undefined {
  const amount = amountOf(budget)
  if (amount === undefined) return undefined
  const nanos = amount < 1e9 ? parseUsd(amount.toFixed(9)) : maxNanos
  return nanos === undefined || nanos > maxNanos ? maxNanos : nanos
}

const day = 86_400
const periods: readonly (readonly [BudgetPeriod, seconds: number])[] = [
  ['day', day],
  ['week', 7 * day],
  ['month', 30 * day],
]
const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3600,
  d: day,
  w: 7 * day,
  mo: 30 * day,
}

/** Finds the calendar period of a duration such as `30d`: the shortest one that is not shorter, so that no more can be spent. */
function readPeriod({ path, notes }: Part, duration: unknown): BudgetPeriod {
  const text = String(duration ?? 'none')
    .trim()
    .toLowerCase()
  if (['', 'none', 'null'].includes(text)) return 'none'
  const [, count, unit = ''] = /^(\d+)(mo|[smhdw])$/.exec(text) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  const [period, length] = periods.find(([, length]) => seconds <= length) ?? ['none', undefined]
  if (seconds !== length) notes.add(`${path}.budget_duration`, inexactReason(period))
  return period
}

function inexactReason(period: BudgetPeriod): string {
  const becomes = period === 'none' ? 'the budget is never reset' : `this budget is reset each ${period}`
  return `Weir resets budgets each day, week or month; ${becomes}.`
}

/** Reads a rate limit; 0 for one that allows nothing, and undefined for none. */
function readLimit({ fields, path, notes }: Part, name: string): number | undefined {
  const value = fields[name]
  if (value === undefined) return undefined
  const limit = amountOf(value) === 0 ? 0 : countOf(value)
  if (limit === undefined)
    notes.add(`${path}.${name}`, 'It is not a whole number of at least 0, and was ignored.')
  if (limit === 0) notes.add(`${path}.${name}`, 'A limit of 0 allows no request: it is disabled in Weir.')
  return limit
}

/** The names that stand for all models in LiteLLM; those of a key's team are all that the project allows. */
const allModels = ['all-proxy-models', 'all-team-models', '*']
/** The name that stands for none. */
const noModels = 'no-default-models'

function readModels({ fields, path, notes }: Part): AllowanceChange {
  const { models } = fields
  if (models === undefined) return {}
  if (!Array.isArray(models)) {
    notes.add(`${path}.models`, 'It is not a list; no model is allowed until you set it.')
    return { models: [] }
  }
  const names = models.flatMap((name) => (typeof name === 'string' ? name.trim() : []))
  if (models.length === 0 || names.some((name) => allModels.includes(name))) return {}
  return { models: names.filter((name) => name !== '' && name !== noModels) }
}

/** Returns the flags with which a command sets these limits, for a shell. */
export function limitArguments(limits: AllowanceChange): string {
  const { budget, budgetPeriod, requestsPerMinute, tokensPerMinute, concurrentRequests, models } = limits
  const flags: readonly (readonly [flag: string, value: string | number | null | undefined])[] = [
    ['--budget', budget == null ? undefined : formatUsd(budget)],
    ['--budget-period', budgetPeriod === 'none' ? undefined : budgetPeriod],
    ['--requests-per-minute', requestsPerMinute],
    ['--tokens-per-minute', tokensPerMinute],
    ['--concurrent-requests', concurrentRequests],
    ['--models', models == null ? undefined : models.join(',') || 'none'],
  ]
  return flags
    .flatMap(([flag, value]) => (value == null ? [] : `${flag} ${shellWord(String(value))}`))
    .join(' ')
}
