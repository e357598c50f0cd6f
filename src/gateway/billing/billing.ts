import { billingNotConfigured, insufficientBalance } from '../../lib/errors/errors.ts'
import { usdText } from '../../lib/usd.ts'
import type { Ledger } from '../../storage/ports/ledger.ts'
import { noWrites, type Write } from '../../storage/ports/writes.ts'
import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import type { BillingMode } from '../../domain/accounting/organization.ts'
import type { Outcome } from '../../domain/accounting/outcome.ts'
import type { CostBound } from './reservation.ts'

/** The account of what requests cost. */
export type Billing = {
  /**
   * Sets aside what the call may cost, where its organization pays before; throws or rejects with the 402, and is
   * undefined where there is nothing to wait for. `writes` are executed in the same transaction; a call that is to be
   * made later has some.
   */
  reserve(
    request: RequestMetadata,
    billing: BillingMode,
    spending: () => CostBound | undefined,
    writes?: readonly Write[],
  ): Promise<void> | undefined
  /** Writes how a request ended, and charges it; resolves once that, and what goes with it, is on disk. */
  settle(request: RequestMetadata, outcome: Outcome, writes?: readonly Write[]): Promise<unknown>
  /** The same for a call that was booked: resolves once both are on disk, whenever the database lets that be. */
  settleEventually(request: RequestMetadata, outcome: Outcome, writes?: readonly Write[]): Promise<unknown>
}

/** `ready` throws or rejects where the end of a call could not be written. */
export function createBilling(ledger: Ledger, ready: () => Promise<void> | undefined): Billing {
  /** The requests for which money was set aside here. */
  const paying = new Set<string>()

  async function setAside(
    request: RequestMetadata,
    expected: CostBound | undefined,
    writes: readonly Write[],
  ): Promise<void> {
    // A model without a price is never taken as free.
    if (expected === undefined) {
      throw billingNotConfigured(`The model ${request.model} has no price, so no balance can pay for it.`)
    }
    const { maxCost: mostCost, promptCost, promptTokens } = expected
    // Before it is known: a caller who leaves meanwhile ends the call behind it.
    if (writes.length === 0) paying.add(request.id)
    if (await ledger.reserve({ request, amount: mostCost, promptCost, promptTokens }, writes)) return
    if (mostCost === 0n) throw insufficientBalance('The balance is below zero. It has to be credited first.')
    const needed = `This request may cost up to ${usdText(mostCost)} USD, and the balance does not hold that.`
    throw insufficientBalance(`${needed} A smaller max_tokens asks for less.`)
  }

  return {
    reserve(request, billing, spending, writes = noWrites) {
      if (billing === 'unmetered') return writes.length > 0 ? ledger.write(writes) : ready()
      if (billing === 'none') throw billingNotConfigured('The organization of this API key has no billing.')
      return setAside(request, spending(), writes)
    },
    settle: (request, outcome, writes) =>
      ledger.settle(request, outcome, { writes, reserved: paying.delete(request.id) }),
    settleEventually: ledger.settleEventually,
  }
}
