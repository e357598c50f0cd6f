import { readRequestMetadata, type RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { timeOf } from '../../../lib/id.ts'
import type { Nanos } from '../../../lib/usd.ts'
import type { Reservation } from '../../ports/ledger.ts'
import { processRemoved } from '../../common/process-identity.ts'
import { clampToColumn } from '../../common/clamp-to-column.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organizations/organization-row.ts'

/** Parts of transactions on the reserved money of organizations. */
export type Reservations = {
  /**
   * Returns false, and reserves nothing, if the unreserved part of the balance is lower; throws 503 if this process was
   * removed by the others.
   */
  insert(reservation: Reservation): boolean
  /** Deletes a reservation and returns its amount, which the caller subtracts from the reserved sum. */
  remove(requestId: string): Nanos | undefined
  /** Returns up to `limit` reservations of processes that are gone, whose request ids are greater than `after`, by request id. */
  abandonedAfter(after: string, limit: number): readonly OpenReservation[]
}

export type OpenReservation = Omit<Reservation, 'amount'>

export function prepareReservations(database: Database): Reservations {
  const statements = prepareStatements(database)
  const { process } = database

  function insert({ request, amount, promptCost, promptTokens }: Reservation): boolean {
    const owner = process?.id() ?? null
    if (owner !== null && statements.present.get(owner) === null) throw processRemoved()
    const reserved = clampToColumn(amount)
    if (statements.reserve.run(reserved, request.organization, reserved).changes === 0) return false
    const metadata = JSON.stringify(request)
    const cost = clampToColumn(promptCost)
    statements.insert.run(request.id, request.organization, reserved, cost, promptTokens, metadata, owner)
    return true
  }

  function remove(requestId: string): Nanos | undefined {
    const row = statements.remove.get(requestId)
    return row === null ? undefined : BigInt(row.amount)
  }

  return {
    insert,
    remove,
    abandonedAfter: (after, limit) => statements.select.all(after, limit).map(toReservation),
  }
}

type ReservationRow = {
  readonly id: string
  readonly organization: string
  readonly request: string
  readonly prompt_cost: number
  readonly prompt_tokens: number
}

function prepareStatements({ sqlite, process }: Database) {
  // A server that is alone finds the reservations of earlier ones.
  // That of a background run is left to the process that claims the run.
  const abandoned = process
    ? 'AND NOT EXISTS (SELECT 1 FROM processes WHERE id = process_id) ' +
      'AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.request_id = reservations.request_id)'
    : ''
  return {
    reserve: sqlite.prepare<unknown, [Nanos, string, Nanos]>(
      `UPDATE organizations SET reserved = reserved + ? WHERE id = ? AND balance - reserved >= ? AND ${organizationExistsSql}`,
    ),
    insert: sqlite.prepare(
      'INSERT INTO reservations (request_id, organization_id, amount, prompt_cost, prompt_tokens, request, process_id) ' +
        'VALUES (?, ?, ?, ?, ?, ?, ?)',
    ),
    present: sqlite.prepare<unknown, [string]>('SELECT 1 FROM processes WHERE id = ?'),
    remove: sqlite.prepare<{ readonly amount: number }, [string]>(
      'DELETE FROM reservations WHERE request_id = ? RETURNING amount',
    ),
    select: sqlite.prepare<ReservationRow, [string, number]>(
      'SELECT request_id id, organization_id organization, request, prompt_cost, prompt_tokens FROM reservations ' +
        `WHERE request_id > ? ${abandoned} ORDER BY request_id LIMIT ?`,
    ),
  }
}

function toReservation(row: ReservationRow): OpenReservation {
  return {
    request: readRequestMetadata(row.request, row.organization, row.id) ?? minimalMetadata(row),
    promptCost: BigInt(row.prompt_cost),
    promptTokens: row.prompt_tokens,
  }
}

/** The metadata of a request whose stored metadata is damaged: it is settled anyway, so that its money is released. */
function minimalMetadata({ id, organization }: ReservationRow): RequestMetadata {
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
