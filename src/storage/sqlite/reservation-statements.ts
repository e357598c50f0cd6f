import { sql } from 'drizzle-orm'
import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { Nanos } from '../../lib/usd.ts'
import { parseBudgets, printBudgets, type ReservedBudget } from '../common/reserved-budgets.ts'
import { clampToColumn } from '../common/store-limits.ts'
import type { BudgetUse } from '../ports/budgets.ts'
import type { BudgetLimit, Reservation, ReservationRejection } from '../ports/ledger.ts'
import { reservations } from '../schema/organizations.ts'
import { bare, insertInto } from '../sql.ts'
import type { Amounts } from './amounts.ts'
import type { Database } from './connection/database.ts'
import { textOf } from './run-script.ts'

export type Reservations = ReturnType<typeof prepareReservations>

/** What is reserved from the balance, if that pays, and from all budgets. */
export type Payment = {
  readonly amount: Nanos
  /** Whether the balance pays. */
  readonly prepaid: boolean
  readonly budgets: readonly ReservedBudget[]
}

/** Parts of transactions on the reserved money of organizations. */
export function prepareReservations(database: Database) {
  const rows = prepareRows(database)
  /** Of this process, which need not be read from their rows. */
  const known = new WeakMap<RequestMetadata, Payment>()

  function insertRow(reservation: Reservation, { amount, prepaid, budgets }: Payment): void {
    const { request, promptTokens } = reservation
    const { id, organization } = request
    const cost = clampToColumn(reservation.promptCost)
    const metadata = JSON.stringify(request)
    if (prepaid && budgets.length === 0)
      rows.insert.run(id, organization, amount, cost, promptTokens, metadata)
    else {
      const [pays, stored] = [Number(prepaid), printBudgets(budgets)]
      rows.insertCounted.run(id, organization, amount, cost, promptTokens, metadata, pays, stored)
    }
  }

  /**
   * Reserves an amount from the balance and from all budgets, and executes the writes. Returns the reason, and does neither,
   * if the unreserved part of the balance or one of the budgets is lower.
   */
  function insert(amounts: Amounts, reservation: Reservation, writes: () => void) {
    const { request, prepaid = true, budgets = noBudgets } = reservation
    const payment = { amount: clampToColumn(reservation.amount), prepaid, budgets }
    const rejection = rejectionOf(amounts, request, payment)
    if (rejection !== undefined) return rejection
    insertRow(reservation, payment)
    writes()
    take(amounts, request, payment)
    known.set(request, payment)
    return undefined
  }

  /** Deletes the reservation of a request; the caller subtracts what is returned from the reserved sums. */
  function remove(request: RequestMetadata): Payment | undefined {
    const payment = known.get(request)
    if (payment !== undefined) return rows.delete.run(request.id).changes > 0 ? payment : undefined
    const row = rows.remove.get(request.id)
    return row === null
      ? undefined
      : { amount: BigInt(row.amount), prepaid: row.prepaid === 1, budgets: parseBudgets(row.budgets) }
  }

  return { insert, remove }
}

const noBudgets: readonly BudgetLimit[] = []

function rejectionOf(
  amounts: Amounts,
  { organization }: RequestMetadata,
  { amount, prepaid, budgets }: Payment & { readonly budgets: readonly BudgetLimit[] },
): ReservationRejection | undefined {
  const found = amounts.balance(organization)
  const available = found === undefined ? 0n : found.balance - found.reserved
  if (found === undefined || (prepaid && available < amount)) return { budget: null, available }
  for (const budget of budgets) {
    const left = budget.limit - usedOf(amounts.budget(organization, budget))
    if (left < amount) return { budget, available: left }
  }
  return undefined
}

function usedOf({ spent, reserved, held, allocated }: BudgetUse): Nanos {
  return spent + reserved + held + allocated
}

function take(
  amounts: Amounts,
  { organization }: RequestMetadata,
  { amount, prepaid, budgets }: Payment,
): void {
  const found = amounts.balance(organization)
  if (prepaid && found !== undefined)
    amounts.setBalance(organization, { balance: found.balance, reserved: found.reserved + amount })
  for (const budget of budgets) {
    const use = amounts.budget(organization, budget)
    amounts.setBudget(organization, budget, { ...use, reserved: use.reserved + amount })
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
    delete: sqlite.prepare<unknown, [string]>(
      textOf(sql`delete from ${reservations} where ${request_id} = ?`),
    ),
    remove: sqlite.prepare<
      { readonly amount: number; readonly prepaid: 0 | 1; readonly budgets: string | null },
      [string]
    >(
      textOf(sql`delete from ${reservations} where ${request_id} = ?
        returning ${bare(amount)}, ${bare(prepaid)}, ${bare(budgets)}`),
    ),
  }
}
