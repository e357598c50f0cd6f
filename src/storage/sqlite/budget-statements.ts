import { sql } from 'drizzle-orm'
import { maxNanos, type Nanos } from '../../lib/usd.ts'
import { parseBudgets } from '../common/reserved-budgets.ts'
import type { BudgetLimit, ReservationRefusal } from '../ports/ledger.ts'
import { budgets } from '../schema/organizations.ts'
import { bare, select } from '../sql.ts'
import type { Database } from './connection/database.ts'
import { textOf } from './run-script.ts'

/** What the settlement of a request changes in each of its budgets. */
export type BudgetChange = {
  /** What the request had reserved. */
  readonly amount: Nanos
  readonly spent: Nanos
  readonly held: Nanos
}

/** Parts of transactions on the budgets of organizations. */
export type ReservedBudgets = {
  /** Reserves the amount in each budget. Stops at the first that is too low and returns it; the caller rolls back the others. */
  reserve(organization: string, limits: readonly BudgetLimit[], amount: Nanos): ReservationRefusal | undefined
  /** Settles a reservation in its budgets, which are those that its row stores. */
  settle(organization: string, stored: string | null, change: BudgetChange): void
}

export function prepareBudgets(database: Database): ReservedBudgets {
  const statements = prepareStatements(database)

  function availableOf(organization: string, { owner, start, limit }: BudgetLimit): Nanos {
    return limit - BigInt(statements.used.get(owner, start, organization)?.used ?? 0)
  }

  return {
    reserve(organization, limits, amount) {
      for (const budget of limits) {
        const { owner, start, limit } = budget
        if (statements.reserve.run(owner, start, organization, amount, limit).changes === 0)
          return { budget, available: availableOf(organization, budget) }
      }
      return undefined
    },
    settle(organization, stored, { amount, spent, held }) {
      for (const { owner, start } of parseBudgets(stored))
        statements.settle.run(owner, start, organization, amount, spent, held)
    },
  }
}

function prepareStatements({ sqlite }: Database) {
  const { owner_id, start, organization_id, spent, reserved, held, allocated } = budgets
  const used = sql`${spent} + ${reserved} + ${held} + ${allocated}`
  const isBudget = sql`${owner_id} = ?1 and ${start} = ?2 and ${organization_id} = ?3`
  const increased = (column: typeof spent | typeof held, by: string) =>
    sql`${bare(column)} = min(${column} + ${sql.raw(by)}, ${sql.raw(String(maxNanos))})`
  return {
    reserve: sqlite.prepare<unknown, [string, number, string, Nanos, Nanos]>(
      textOf(sql`insert into ${budgets} (${bare(owner_id)}, ${bare(start)}, ${bare(organization_id)}, ${bare(reserved)})
        select ?1, ?2, ?3, ?4 where ?4 <= ?5
        on conflict (${bare(owner_id)}, ${bare(start)}) do update set ${bare(reserved)} = ${reserved} + ?4
        where ${used} + ?4 <= ?5 and ${organization_id} = ?3`),
    ),
    used: sqlite.prepare<{ readonly used: number }, [string, number, string]>(
      textOf(select({ used }, sql`from ${budgets} where ${isBudget}`)),
    ),
    settle: sqlite.prepare<unknown, [string, number, string, Nanos, Nanos, Nanos]>(
      textOf(sql`update ${budgets}
        set ${bare(reserved)} = ${reserved} - ?4, ${increased(spent, '?5')}, ${increased(held, '?6')}
        where ${isBudget}`),
    ),
  }
}
