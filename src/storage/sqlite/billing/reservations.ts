import type { Nanos } from '../../../lib/usd.ts'
import type { Reservation } from '../../ports/ledger.ts'
import { clampToColumn } from '../../common/clamp-to-column.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organization-exists.ts'

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
  return {
    reserve: sqlite.prepare<unknown, [Nanos, string, Nanos]>(
      `UPDATE organizations SET reserved = reserved + ? WHERE id = ? AND balance - reserved >= ? AND ${organizationExistsSql}`,
    ),
    insert: sqlite.prepare(
      'INSERT INTO reservations (request_id, organization_id, amount, prompt_cost, prompt_tokens, request) ' +
        'VALUES (?, ?, ?, ?, ?, ?)',
    ),
    remove: sqlite.prepare<{ readonly amount: number }, [string]>(
      'DELETE FROM reservations WHERE request_id = ? RETURNING amount',
    ),
  }
}
