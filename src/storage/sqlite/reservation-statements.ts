import { sql } from 'drizzle-orm'
import type { Nanos } from '../../lib/usd.ts'
import { printBudgets } from '../common/reserved-budgets.ts'
import { clampToColumn } from '../common/store-limits.ts'
import type { BudgetLimit, Reservation, ReservationRefusal } from '../ports/ledger.ts'
import { organizations, reservations } from '../schema/organizations.ts'
import { bare, insertInto, select } from '../sql.ts'
import { prepareBudgets } from './budget-statements.ts'
import type { Database } from './connection/database.ts'
import { textOf } from './run-script.ts'

/** Parts of transactions on the reserved money of organizations. */
export type Reservations = {
  /** Returns the reason, and reserves nothing, if the unreserved part of the balance or one of the budgets is lower. */
  insert(reservation: Reservation): ReservationRefusal | undefined
  /** Deletes and returns a reservation, whose amount the caller subtracts from the reserved sums. */
  remove(requestId: string): RemovedReservation | undefined
}

export type RemovedReservation = {
  readonly amount: Nanos
  /** Whether the balance pays. */
  readonly prepaid: boolean
  /** The budgets that it counts against, as they are stored. */
  readonly budgets: string | null
}

export function prepareReservations(database: Database): Reservations {
  const rows = prepareRows(database)
  const take = prepareTake(database)

  function insert(reservation: Reservation): ReservationRefusal | undefined {
    const { request, prepaid = true, budgets = noBudgets, promptTokens } = reservation
    const { id, organization } = request
    const amount = clampToColumn(reservation.amount)
    const refusal = take(organization, amount, prepaid, budgets)
    if (refusal !== undefined) return refusal
    const cost = clampToColumn(reservation.promptCost)
    const metadata = JSON.stringify(request)
    if (prepaid && budgets.length === 0)
      rows.insert.run(id, organization, amount, cost, promptTokens, metadata)
    else {
      const [pays, stored] = [Number(prepaid), printBudgets(budgets)]
      rows.insertCounted.run(id, organization, amount, cost, promptTokens, metadata, pays, stored)
    }
    return undefined
  }

  function remove(requestId: string): RemovedReservation | undefined {
    const row = rows.remove.get(requestId)
    if (row === null) return undefined
    return { amount: BigInt(row.amount), prepaid: row.prepaid === 1, budgets: row.budgets }
  }

  return { insert, remove }
}

const noBudgets: readonly BudgetLimit[] = []

/** Takes an amount from the balance and from all budgets, or from none of them. */
function prepareTake(database: Database) {
  const { sqlite } = database
  const balances = prepareBalances(database)
  const reservedBudgets = prepareBudgets(database)
  const savepoint = sqlite.prepare('SAVEPOINT reservation')
  const release = sqlite.prepare('RELEASE reservation')
  const rollBack = sqlite.prepare('ROLLBACK TO reservation')

  function takeFromBalance(organization: string, amount: Nanos): ReservationRefusal | undefined {
    if (balances.reserve.run(amount, organization, amount).changes > 0) return undefined
    return { budget: null, available: BigInt(balances.available.get(organization)?.available ?? 0) }
  }

  function takeFromAll(
    organization: string,
    amount: Nanos,
    prepaid: boolean,
    budgets: readonly BudgetLimit[],
  ): ReservationRefusal | undefined {
    const isMissing = !prepaid && balances.available.get(organization) === null
    if (isMissing) return { budget: null, available: 0n }
    const refusal = prepaid ? takeFromBalance(organization, amount) : undefined
    return refusal ?? reservedBudgets.reserve(organization, budgets, amount)
  }

  return (organization: string, amount: Nanos, prepaid: boolean, budgets: readonly BudgetLimit[]) => {
    if (prepaid && budgets.length === 0) return takeFromBalance(organization, amount)
    savepoint.run()
    const refusal = takeFromAll(organization, amount, prepaid, budgets)
    if (refusal !== undefined) rollBack.run()
    release.run()
    return refusal
  }
}

function prepareBalances({ sqlite }: Database) {
  const { balance, deletion, id, reserved } = organizations
  return {
    reserve: sqlite.prepare<unknown, [Nanos, string, Nanos]>(
      textOf(sql`update ${organizations} set ${bare(reserved)} = ${reserved} + ?
        where ${id} = ? and ${balance} - ${reserved} >= ? and ${deletion} is null`),
    ),
    /** No row for an organization that does not exist. */
    available: sqlite.prepare<{ readonly available: number }, [string]>(
      textOf(
        select(
          { available: sql`${balance} - ${reserved}` },
          sql`from ${organizations} where ${id} = ? and ${deletion} is null`,
        ),
      ),
    ),
  }
}

function prepareRows({ sqlite }: Database) {
  const { amount, budgets, prepaid, request_id } = reservations
  const value = sql`?`
  const inserted = {
    request_id: value,
    organization_id: value,
    amount: value,
    prompt_cost: value,
    prompt_tokens: value,
    request: value,
  }
  return {
    insert: sqlite.prepare<unknown, [string, string, Nanos, Nanos, number, string]>(
      textOf(insertInto(reservations, inserted)),
    ),
    insertCounted: sqlite.prepare<
      unknown,
      [string, string, Nanos, Nanos, number, string, number, string | null]
    >(textOf(insertInto(reservations, { ...inserted, prepaid: value, budgets: value }))),
    remove: sqlite.prepare<
      { readonly amount: number; readonly prepaid: 0 | 1; readonly budgets: string | null },
      [string]
    >(
      textOf(sql`delete from ${reservations} where ${request_id} = ?
        returning ${bare(amount)}, ${bare(prepaid)}, ${bare(budgets)}`),
    ),
  }
}
