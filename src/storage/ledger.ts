import type { Database } from './database.ts'
import { createLateSettling } from './late-settling.ts'
import type { RequestFacts } from './request-facts.ts'
import { type OpenReservation, prepareReservations, type Reservation } from './reservations.ts'
import { prepareSettling, type Settlement } from './settling.ts'
import type { Outcome } from './usage.ts'
import type { Writer } from './writer.ts'

/** What requests may take of the balances, and what they took; each promise resolves once that is on disk. */
export type Ledger = {
  /** Sets money aside for a request that is about to begin; false where the balance does not reach. */
  reserve(reservation: Reservation): Promise<boolean>
  /**
   * Writes the usage of a request that has ended and, where money was set aside for it, charges it. Only the first
   * settlement of a request counts. `alongside` writes, in the same transaction, what the reply promises; where it
   * throws, the request is not settled. Where it cannot be written it rejects, and is tried again, alone, until it
   * is: with the status of the reply that is then left.
   */
  settle(request: RequestFacts, outcome: Outcome, alongside?: () => void): Promise<Settlement>
  /** Settles what a killed process has left open, and tells how much. For the start, before any request. */
  recover(): Promise<number>
  /** Begins to write, a last time, what could not be written. For the end, before the writer is closed. */
  close(): void
}

/** The most reservations that one transaction of a recovery settles. */
export const recoverySize = 500

export function createLedger(database: Database, writer: Writer, now: () => number = Date.now): Ledger {
  const reservations = prepareReservations(database)
  const settleNow = prepareSettling(database, reservations, now)
  const late = createLateSettling((request, outcome) => writer.write(() => settleNow(request, outcome)))

  function settleWith(request: RequestFacts, outcome: Outcome, alongside?: () => void): Settlement {
    const settlement = settleNow(request, outcome)
    if (settlement.recorded) alongside?.()
    return settlement
  }

  async function settle(
    request: RequestFacts,
    outcome: Outcome,
    alongside?: () => void,
  ): Promise<Settlement> {
    try {
      return await writer.write(() => settleWith(request, outcome, alongside))
    } catch (error) {
      late.keep(request, outcome)
      throw error
    }
  }

  function settleAfter(id: string): readonly OpenReservation[] {
    const open = reservations.openAfter(id, recoverySize)
    for (const reservation of open) settleNow(reservation.request, interruption(reservation))
    return open
  }

  async function recoverAfter(id: string): Promise<number> {
    const settled = await writer.write(() => settleAfter(id))
    const last = settled.at(-1)
    return last === undefined ? 0 : settled.length + (await recoverAfter(last.request.id))
  }

  return {
    reserve: (reservation) => writer.write(() => reservations.hold(reservation)),
    settle,
    recover: () => recoverAfter(''),
    close: late.close,
  }
}

/** Nothing is known of such a request but that it was sent. */
function interruption({ promptTokens, promptCost }: OpenReservation): Outcome {
  return {
    usage: { promptTokens, completionTokens: 0, estimated: true },
    cost: promptCost,
    status: 0,
    error: 'interrupted',
  }
}
