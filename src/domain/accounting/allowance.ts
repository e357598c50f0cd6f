import type { Nanos } from '../../lib/usd.ts'

/** How often a budget is reset, by the calendar; with `none` it never is. Weeks begin on Monday. */
export const budgetPeriods = ['day', 'week', 'month', 'none'] as const

export type BudgetPeriod = (typeof budgetPeriods)[number]

/** What an organization, a project or a key may spend and request. All that apply to a request must allow it. */
export type Allowance = {
  /** The most that requests of one period may cost; null is no budget. */
  readonly budget: Nanos | null
  readonly budgetPeriod: BudgetPeriod
  /** The IANA name of the time zone of its calendar. */
  readonly budgetTimeZone: string
  /** For an organization, null is the default in the settings; for a project or a key, no limit of its own. */
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
  /** Slugs, aliases and patterns such as `anthropic/*`; null is every model, an empty list is none. */
  readonly models: readonly string[] | null
  readonly enabled: boolean
}

/** The fields to change; absent fields stay. */
export type AllowanceChange = Partial<Allowance>

/** The allowance of an owner with no limit of its own. */
export const noLimits: Allowance = {
  budget: null,
  budgetPeriod: 'none',
  budgetTimeZone: 'UTC',
  requestsPerMinute: null,
  tokensPerMinute: null,
  concurrentRequests: null,
  models: null,
  enabled: true,
}

/** The kinds of owners of an allowance. */
export type AllowanceOwner = 'organization' | 'project' | 'key'

/** A budget that applies to a request. */
export type Budget = {
  /** The id of its owner. */
  readonly owner: string
  readonly kind: AllowanceOwner
  /** The name of its owner. */
  readonly name: string
  readonly amount: Nanos
  readonly period: BudgetPeriod
  readonly timeZone: string
}
