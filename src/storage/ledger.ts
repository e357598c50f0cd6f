import type { Database } from './database.ts'
import { createLateSettling } from './late-settling.ts'
import type { RequestFacts } from './request-facts.ts'
import { type OpenReservation, prepareReservations, type Reservation } from './reservations.ts'
import { prepareSettling, type Settlement } from './settling.ts'
import type { Outcome } from './usage.ts'
import type { Writer } from './writer.ts'

/** What requests may take of the balances, and what they took; each promise resolves once that is on disk. */
export type Ledger = {
  /**
   * Sets money aside for a request that is about to begin; false where the balance does not reach. `alongside`
   * writes, in the same transaction, what the money is set aside for.
   */
  reserve(reservation: Reservation, alongside?: () => void): Promise<boolean>
  /**
   * Writes the usage of a request that has ended and, where money was set aside for it, charges it. Only the first
   * settlement of a request counts. `alongside` writes, in the same transaction, what the reply promises; where it
   * throws, the request is not settled. Where it cannot be written it rejects, and is tried again, alone, until it
   * is: with the status of the reply that is then left.
   */
  settle(request: RequestFacts, outcome: Outcome, alongside?: () => void): Promise<Settlement>
  /**
   * Settles what a killed process has left open, but for the requests that go on, and tells how much. For the start,
   * before any request.
   */
  recover(goesOn?: (request: string) => boolean): Promise<number>
  /** Writes what is promised without money, in a transaction like all others. */
  write(work: () => void): Promise<void>
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

  function holdWith(reservation: Reservation, alongside?: () => void): boolean {
    const held = reservations.hold(reservation)
    if (held) alongside?.()
    return held
  }

  function settleOpen(open: readonly OpenReservation[]): void {
    for (const reservation of open) settleNow(reservation.request, interruption(reservation))
  }

  async function recover(goesOn: (request: string) => boolean = () => false): Promise<number> {
    let settled = 0
    for (let after = ''; ;) {
      const found = reservations.openAfter(after, recoverySize)
      const last = found.at(-1)
      if (last === undefined) return settled
      const open = found.filter(({ request }) => !goesOn(request.id))
      await writer.write(() => settleOpen(open))
      settled += open.length
      after = last.request.id
    }
  }

  return {
    reserve: (reservation, alongside) => writer.write(() => holdWith(reservation, alongside)),
    write: writer.write,
    settle,
    recover,
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
