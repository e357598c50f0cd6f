import type { Column } from 'drizzle-orm'
import type { Allowance, AllowanceChange, BudgetPeriod } from '../../domain/accounting/allowance.ts'
import { isTimeZone } from '../../domain/accounting/budget-period.ts'
import { parseJson } from '../../lib/json/json.ts'
import { maxNanos, type Nanos } from '../../lib/usd.ts'
import { OperatorError } from '../ports/accounts.ts'
import type { Parameters } from '../statement.ts'

type AllowanceColumn =
  | 'budget'
  | 'budget_period'
  | 'budget_time_zone'
  | 'requests_per_minute'
  | 'tokens_per_minute'
  | 'concurrent_requests'
  | 'models'
  | 'enabled'

/** The columns of a table that `toAllowance` reads. */
export function allowanceFields<T extends Readonly<Record<AllowanceColumn, Column>>>(table: T) {
  return {
    budget: table.budget as T['budget'],
    budgetPeriod: table.budget_period as T['budget_period'],
    budgetTimeZone: table.budget_time_zone as T['budget_time_zone'],
    requestsPerMinute: table.requests_per_minute as T['requests_per_minute'],
    tokensPerMinute: table.tokens_per_minute as T['tokens_per_minute'],
    concurrentRequests: table.concurrent_requests as T['concurrent_requests'],
    models: table.models as T['models'],
    enabled: table.enabled as T['enabled'],
  }
}

type StoredAllowance = {
  readonly budget: number | null
  readonly budgetPeriod: BudgetPeriod
  readonly budgetTimeZone: string
  readonly requestsPerMinute: number | null
  readonly tokensPerMinute: number | null
  readonly concurrentRequests: number | null
  readonly models: string | null
  readonly enabled: boolean | 0 | 1
}

/** Converts the columns of an allowance. */
export function toAllowance(row: StoredAllowance): Allowance {
  return {
    budget: row.budget === null ? null : BigInt(row.budget),
    budgetPeriod: row.budgetPeriod,
    budgetTimeZone: row.budgetTimeZone,
    requestsPerMinute: row.requestsPerMinute,
    tokensPerMinute: row.tokensPerMinute,
    concurrentRequests: row.concurrentRequests,
    models: row.models === null ? null : textsOf(row.models),
    enabled: Boolean(row.enabled),
  }
}

/** The values of an allowance as its columns store them. */
export type AllowanceRow = Omit<StoredAllowance, 'budget' | 'enabled'> & {
  readonly budget: Nanos | null
  readonly enabled: boolean
}

/** Returns the columns of an allowance after a change; throws an error for the operator if it is not valid. */
export function changedAllowance(limits: Allowance, change: AllowanceChange): AllowanceRow {
  const changed: Allowance = {
    budget: change.budget === undefined ? limits.budget : change.budget,
    budgetPeriod: change.budgetPeriod ?? limits.budgetPeriod,
    budgetTimeZone: change.budgetTimeZone ?? limits.budgetTimeZone,
    requestsPerMinute: changedLimit(limits.requestsPerMinute, change.requestsPerMinute),
    tokensPerMinute: changedLimit(limits.tokensPerMinute, change.tokensPerMinute),
    concurrentRequests: changedLimit(limits.concurrentRequests, change.concurrentRequests),
    models: change.models === undefined ? limits.models : change.models,
    enabled: change.enabled ?? limits.enabled,
  }
  assertAllowance(changed)
  return { ...changed, models: changed.models === null ? null : JSON.stringify(changed.models) }
}

function changedLimit(limit: number | null, change: number | null | undefined): number | null {
  return change === undefined ? limit : change
}

const maxModels = 1000
const maxModelLength = 256

function assertAllowance({ budget, budgetTimeZone, models }: Allowance): void {
  if (budget !== null && (budget < 0n || budget > maxNanos))
    throw new OperatorError('invalid', 'A budget must be zero or more, and at most 9007199.25 USD.')
  if (!isTimeZone(budgetTimeZone))
    throw new OperatorError(
      'invalid',
      `There is no time zone ${budgetTimeZone}. Names look like Europe/Berlin or UTC.`,
    )
  if (models !== null && models.length > maxModels)
    throw new OperatorError('invalid', `A list of models must have at most ${maxModels} entries.`)
  if (models?.some((model) => model === '' || model.length > maxModelLength))
    throw new OperatorError(
      'invalid',
      `Each entry of a list of models must have 1 to ${maxModelLength} characters.`,
    )
}

/** What an update or an insert assigns to the columns of an allowance. */
export function allowanceAssignments(values: Parameters<AllowanceRow>) {
  return {
    budget: values.budget,
    budget_period: values.budgetPeriod,
    budget_time_zone: values.budgetTimeZone,
    requests_per_minute: values.requestsPerMinute,
    tokens_per_minute: values.tokensPerMinute,
    concurrent_requests: values.concurrentRequests,
    models: values.models,
    enabled: values.enabled,
  }
}

/** The texts of a stored array; those of a damaged one are none. */
export function textsOf(json: string): readonly string[] {
  const value = parseJson(json)
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}
