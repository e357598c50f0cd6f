import type { Nanos } from '../../../lib/usd.ts'
import { clampToColumn } from '../clamp-to-column.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organizations/organization-row.ts'
import { timeOf } from '../../../lib/id.ts'
import { readFacts, type RequestMetadata } from '../../../domain/accounting/request-metadata.ts'

/** Money that a request may take before it is known what it took. */
export type Reservation = {
  readonly request: RequestMetadata
  /** The most that it should cost. */
  readonly amount: Nanos
  /** What it is charged where nothing is known but that it was sent. */
  readonly promptCost: Nanos
  readonly promptTokens: number
}

/** Parts of transactions on the reserved money of organizations. */
export type Reservations = {
  /** False, and nothing is reserved, where the free part of the balance is smaller. */
  hold(reservation: Reservation): boolean
  /** Deletes the reservation and tells its amount, for the caller to take off what the organization has reserved. */
  take(request: string): Nanos | undefined
  /** Some of those that are open, by request id, from behind the given one. */
  openAfter(request: string, limit: number): readonly OpenReservation[]
}

export type OpenReservation = Omit<Reservation, 'amount'>

export function prepareReservations(database: Database): Reservations {
  const { reserve, insert, remove, select } = prepareStatements(database)

  function hold({ request, amount, promptCost, promptTokens }: Reservation): boolean {
    const wanted = clampToColumn(amount)
    if (reserve.run(wanted, request.organization, wanted).changes === 0) return false
    const facts = JSON.stringify(request)
    insert.run(request.id, request.organization, wanted, clampToColumn(promptCost), promptTokens, facts)
    return true
  }

  function take(request: string): Nanos | undefined {
    const row = remove.get(request)
    return row === null ? undefined : BigInt(row.amount)
  }

  return { hold, take, openAfter: (request, limit) => select.all(request, limit).map(toReservation) }
}

type ReservationRow = {
  readonly id: string
  readonly organization: string
  readonly request: string
  readonly prompt_cost: number
  readonly prompt_tokens: number
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
    select: sqlite.prepare<ReservationRow, [string, number]>(
      'SELECT request_id id, organization_id organization, request, prompt_cost, prompt_tokens FROM reservations ' +
        'WHERE request_id > ? ORDER BY request_id LIMIT ?',
    ),
  }
}

function toReservation(row: ReservationRow): OpenReservation {
  return {
    request: readFacts(row.request, row.organization, row.id) ?? leastFacts(row),
    promptCost: BigInt(row.prompt_cost),
    promptTokens: row.prompt_tokens,
  }
}

/** What is known of a request whose facts cannot be read: it is settled all the same, so that its money is free. */
function leastFacts({ id, organization }: ReservationRow): RequestMetadata {
  const createdAt = timeOf(id)
  return {
    id,
    organization,
    key: '',
    createdAt: Number.isFinite(createdAt) ? createdAt : 0,
    api: 'chat',
    stream: false,
  }
}
