import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import { untilStored } from '../writer/until-stored.ts'
import type { Database } from '../connection/database.ts'
import { createRecovery } from './ledger-recovery.ts'
import { createLateSettling } from './late-settling.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { prepareReservations, type Reservation, type Reservations } from './reservations.ts'
import { prepareSettling, type Settlement } from './settling.ts'
import type { Outcome } from '../../../domain/accounting/outcome.ts'
import type { Writer } from '../writer/writer.ts'

export type SettlingOptions = {
  readonly alongside?: (() => void) | undefined
  /** False where it is known that nothing was set aside. */
  readonly reserved?: boolean
}

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
  settle(request: RequestMetadata, outcome: Outcome, how?: SettlingOptions): Promise<Settlement>
  /**
   * The same for an end for which nobody waits: it is tried as a whole until it is written, and rejects only with what
   * no other try would mend, or when the ledger is closed.
   */
  settleEventually(request: RequestMetadata, outcome: Outcome, alongside?: () => void): Promise<Settlement>
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

export function createLedger(database: Database, writer: Writer, now: () => number = Date.now): Ledger {
  const reservations = prepareReservations(database)
  const settleNow = prepareSettling(database, reservations, now)
  const closing = new AbortController()
  const late = createLateSettling((request, outcome) => writer.write(() => settleNow(request, outcome, true)))

  function settleWith(request: RequestMetadata, outcome: Outcome, how: SettlingOptions): Settlement {
    const { alongside, reserved = true } = how
    const settlement = settleNow(request, outcome, reserved)
    if (settlement.recorded) alongside?.()
    return settlement
  }

  const settle: Ledger['settle'] = (request, outcome, how = {}) => {
    const settled = writer.write(() => settleWith(request, outcome, how), lasting(how))
    settled.catch(() => late.keep(request, outcome))
    return settled
  }

  const settleAtLast: Ledger['settleEventually'] = (request, outcome, alongside) =>
    untilStored(() => writer.write(() => settleWith(request, outcome, { alongside })), closing.signal)

  return {
    reserve: createReserve(reservations, writer),
    write: writer.write,
    settle,
    settleEventually: settleAtLast,
    recover: createRecovery(reservations, settleNow, writer),
    close() {
      closing.abort(serviceUnavailable('The gateway is stopping.'))
      late.close()
    },
  }
}

function createReserve(reservations: Reservations, writer: Writer): Ledger['reserve'] {
  function holdWith(reservation: Reservation, alongside?: () => void): boolean {
    const held = reservations.hold(reservation)
    if (held) alongside?.()
    return held
  }

  // Money that is set aside and lost in a power cut was not taken.
  return (reservation, alongside) => {
    const promised = () => alongside !== undefined
    return writer.write(() => holdWith(reservation, alongside), promised)
  }
}

/** A row that nobody was promised may be lost in a power cut. */
function lasting({ alongside }: SettlingOptions): (settlement: Settlement) => boolean {
  return ({ charged }) => alongside !== undefined || charged > 0n
}
