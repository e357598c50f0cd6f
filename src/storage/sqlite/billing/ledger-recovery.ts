import type { OpenReservation, Reservations } from './reservations.ts'
import type { Settling } from './settling.ts'
import type { Outcome } from '../../../domain/accounting/outcome.ts'
import type { Writer } from '../writer/writer.ts'

/** The most reservations that one transaction of a recovery settles. */
export const recoverySize = 500

/** Settles what a killed process has left open, but for the requests that go on, and tells how much. */
export function createRecovery(
  reservations: Reservations,
  settleNow: Settling,
  writer: Writer,
): (goesOn?: (request: string) => boolean) => Promise<number> {
  function settleOpen(open: readonly OpenReservation[]): void {
    for (const reservation of open) settleNow(reservation.request, interruption(reservation), true)
  }

  return async (goesOn = () => false) => {
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
