import type { Column } from 'drizzle-orm'
import type { Allowance, AllowanceChange } from '../../domain/accounting/allowance.ts'
import { isTimeZone } from '../../domain/accounting/budget-period.ts'
import { parseJson } from '../../lib/json/json.ts'
import { maxNanos } from '../../lib/usd.ts'
import { invalid } from '../common/account-rules.ts'
import type { projects } from '../schema/organizations.ts'
import { type Inserted, pick, type RowOf } from '../sql.ts'

/** The columns of an allowance, in each of the tables that have one. */
export const allowanceColumns = [
  'budget',
  'budget_period',
  'budget_time_zone',
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent_requests',
  'models',
  'enabled',
] as const

type AllowanceColumn = (typeof allowanceColumns)[number]

/** The columns of a table that `toAllowance` reads. */
export function allowanceFields<T extends Readonly<Record<AllowanceColumn, Column>>>(table: T) {
  return pick(table, allowanceColumns)
}

/** Converts the columns of an allowance. */
export function toAllowance(row: RowOf<Pick<typeof projects, AllowanceColumn>>): Allowance {
  return {
    budget: row.budget === null ? null : BigInt(row.budget),
    budgetPeriod: row.budget_period,
    budgetTimeZone: row.budget_time_zone,
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    concurrentRequests: row.concurrent_requests,
    models: row.models === null ? null : textsOf(row.models),
    enabled: Boolean(row.enabled),
  }
}

/** The values of an allowance as its columns store them. */
export type AllowanceRow = Inserted<typeof projects, AllowanceColumn>

/** Returns the columns of an allowance after a change; throws an error for the operator if it is not valid. */
export function changedAllowance(limits: Allowance, change: AllowanceChange): AllowanceRow {
  const present = Object.entries(change).filter(([name, value]) => name in limits && value !== undefined)
  const changed: Allowance = { ...limits, ...Object.fromEntries(present) }
  assertAllowance(changed)
  return {
    budget: changed.budget,
    budget_period: changed.budgetPeriod,
    budget_time_zone: changed.budgetTimeZone,
    requests_per_minute: changed.requestsPerMinute,
    tokens_per_minute: changed.tokensPerMinute,
    concurrent_requests: changed.concurrentRequests,
    models: changed.models === null ? null : JSON.stringify(changed.models),
    enabled: changed.enabled,
  }
}

const maxModels = 1000
const maxModelLength = 256

function assertAllowance({ budget, budgetTimeZone, models }: Allowance): void {
  if (budget !== null && (budget < 0n || budget > maxNanos))
    throw invalid('A budget must be zero or more, and at most 9007199.25 USD.')
  if (!isTimeZone(budgetTimeZone))
    throw invalid(`There is no time zone ${budgetTimeZone}. Names look like Europe/Berlin or UTC.`)
  if (models !== null && models.length > maxModels)
    throw invalid(`A list of models must have at most ${maxModels} entries.`)
  if (models?.some((model) => model === '' || model.length > maxModelLength))
    throw invalid(`Each entry of a list of models must have 1 to ${maxModelLength} characters.`)
}

/** The texts of a stored array; those of a damaged one are none. */
export function textsOf(json: string): readonly string[] {
  const value = parseJson(json)
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}
