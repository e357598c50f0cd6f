import { and, eq, gt, isNotNull, isNull, lte, or, type SQL, sql, type SQLWrapper } from 'drizzle-orm'
import { periodAt } from '../../domain/accounting/budget-period.ts'
import { expirySoonMs, lowBalance, nearlyUsedPercent } from '../../lib/near-end.ts'
import { api_keys, budgets, organizations, projects } from '../schema/organizations.ts'
import { select } from '../sql.ts'
import { type Dialect, execute, type Script } from '../statement.ts'

/**
 * The condition of the rows of a list that are near their end at a time, in milliseconds since 1970. What is disabled,
 * deleted or has expired is not, nor what belongs to an owner that is: its requests are rejected anyway.
 */
type NearEnd = Script<(dialect: Dialect) => SQL | undefined>

/** Organizations of which the budget is nearly used, or that are prepaid and have a low balance. */
export function* organizationsNearEnd(now: number): NearEnd {
  const available = sql`${organizations.balance} - ${organizations.reserved}`
  const hasLowBalance = and(eq(organizations.billing, 'prepaid'), lte(available, lowBalance))
  const start = yield* currentStart(organizations, now)
  return ({ asReference }) =>
    and(
      sql`${organizations.enabled}`,
      or(hasLowBalance, isNearlyUsed(organizations.budget, asReference(organizations.id), start)),
    )
}

/** Projects of which the budget is nearly used; the statement joins their organizations. */
export function* projectsNearEnd(now: number): NearEnd {
  const start = yield* currentStart(projects, now)
  return ({ asReference }) =>
    and(
      isNull(projects.deleted_at),
      sql`${projects.enabled}`,
      sql`${organizations.enabled}`,
      isNearlyUsed(projects.budget, asReference(projects.id), start),
    )
}

/** Keys that expire soon, or of which the budget is nearly used; the statement joins their organizations and projects. */
export function* keysNearEnd(now: number): NearEnd {
  const limitsId = sql`coalesce(${api_keys.limits_id}, ${api_keys.public_id})`
  const start = yield* currentStart(api_keys, now)
  return ({ asReference }) =>
    and(
      isNull(api_keys.revoked_at),
      or(isNull(api_keys.expires_at), gt(api_keys.expires_at, now)),
      sql`${api_keys.enabled}`,
      // Null without an organization.
      sql`${organizations.enabled}`,
      isNull(projects.deleted_at),
      sql`${projects.enabled} is not false`,
      or(
        lte(api_keys.expires_at, now + expirySoonMs),
        isNearlyUsed(api_keys.budget, asReference(limitsId), start),
      ),
    )
}

/** Whether a budget is nearly used in the period that begins at `start`: it is looked up for each row that has one. */
function isNearlyUsed(budget: SQLWrapper, owner: SQL, start: SQL): SQL {
  const used = sql`select ${budgets.spent} + ${budgets.reserved} + ${budgets.held} + ${budgets.allocated}
    from ${budgets} where ${budgets.owner_id} = ${owner} and ${budgets.start} = ${start}`
  return sql`(${budget} is not null and coalesce((${used}), 0) * 100 >= ${budget} * ${nearlyUsedPercent})`
}

type LimitedTable = typeof organizations | typeof projects | typeof api_keys

/** When the current period of the budget of a row begins, by the calendars that the budgets of the table have. */
function* currentStart(table: LimitedTable, now: number): Script<SQL> {
  const calendars = yield* execute(() =>
    select(
      { period: table.budget_period, timeZone: table.budget_time_zone },
      sql`from ${table} where ${isNotNull(table.budget)} group by ${table.budget_period}, ${table.budget_time_zone}`,
    ),
  )
  if (calendars.length === 0) return sql`0`
  const cases = calendars.map(({ period, timeZone }) => {
    const { start } = periodAt(period, timeZone, now)
    return sql`when ${`${period} ${timeZone}`} then ${sql.raw(String(start))}`
  })
  return sql`case ${table.budget_period} || ' ' || ${table.budget_time_zone} ${sql.join(cases, sql` `)} end`
}
