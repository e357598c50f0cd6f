import { sql } from 'drizzle-orm'
import type { Nanos } from '../../../lib/usd.ts'
import type { Reservation } from '../../ports/ledger.ts'
import { clampToColumn } from '../../common/clamp-to-column.ts'
import type { Database } from '../connection/database.ts'
import { organizations, reservations } from '../../schema/organizations.ts'
import { bare, insertInto } from '../../sql.ts'
import { textOf } from '../run-script.ts'

/** Parts of transactions on the reserved money of organizations. */
export type Reservations = {
  /** Returns false, and reserves nothing, if the unreserved part of the balance is lower. */
  insert(reservation: Reservation): boolean
  /** Deletes a reservation and returns its amount, which the caller subtracts from the reserved sum. */
  remove(requestId: string): Nanos | undefined
}

export function prepareReservations(database: Database): Reservations {
  const statements = prepareStatements(database)

  function insert({ request, amount, promptCost, promptTokens }: Reservation): boolean {
    const reserved = clampToColumn(amount)
    if (statements.reserve.run(reserved, request.organization, reserved).changes === 0) return false
    const metadata = JSON.stringify(request)
    const cost = clampToColumn(promptCost)
    statements.insert.run(request.id, request.organization, reserved, cost, promptTokens, metadata)
    return true
  }

  function remove(requestId: string): Nanos | undefined {
    const row = statements.remove.get(requestId)
    return row === null ? undefined : BigInt(row.amount)
  }

  return { insert, remove }
}

function prepareStatements({ sqlite }: Database) {
  const { balance, deletion, id, reserved } = organizations
  const { amount, request_id } = reservations
  const value = sql`?`
  return {
    reserve: sqlite.prepare<unknown, [Nanos, string, Nanos]>(
      textOf(sql`update ${organizations} set ${bare(reserved)} = ${reserved} + ?
        where ${id} = ? and ${balance} - ${reserved} >= ? and ${deletion} is null`),
    ),
    insert: sqlite.prepare<unknown, [string, string, Nanos, Nanos, number, string]>(
      textOf(
        insertInto(reservations, {
          request_id: value,
          organization_id: value,
          amount: value,
          prompt_cost: value,
          prompt_tokens: value,
          request: value,
        }),
      ),
    ),
    remove: sqlite.prepare<{ readonly amount: number }, [string]>(
      textOf(sql`delete from ${reservations} where ${request_id} = ? returning ${bare(amount)}`),
    ),
  }
}
