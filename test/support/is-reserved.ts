import type { Ledger, Reservation } from '../../src/storage/ports/ledger.ts'

/** Whether the ledger could make the reservation. */
export async function isReserved(
  ledger: Pick<Ledger, 'reserve'>,
  reservation: Reservation,
): Promise<boolean> {
  return (await ledger.reserve(reservation)) === undefined
}
