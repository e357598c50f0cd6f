import type { BillingMode } from '../../domain/accounting/organization.ts'
import type { Outcome } from '../../domain/accounting/outcome.ts'
import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { billingNotConfigured, insufficientBalance } from '../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { usdText } from '../../lib/usd.ts'
import type { Ledger } from '../../storage/sqlite/billing/ledger.ts'
import type { CostBound } from './cost-bound.ts'

/** The account of what requests cost. */
export type Billing = {
  /**
   * Sets aside what the call may cost, where its organization pays before; throws or rejects with the 402, and is
   * undefined where there is nothing to wait for. `alongside` writes, in the same transaction, what stands for a call
   * that is to be made later.
   */
  reserve(
    request: RequestMetadata,
    billing: BillingMode,
    spending: () => CostBound | undefined,
    alongside?: () => void,
  ): Promise<void> | undefined
  /** Writes how a request ended, and charges it; resolves once that, and what goes with it, is on disk. */
  settle(request: RequestMetadata, outcome: Outcome, alongside?: () => void): Promise<unknown>
  /** The same for a call that was booked: resolves once both are on disk, whenever the database lets that be. */
  settleEventually(request: RequestMetadata, outcome: Outcome, alongside?: () => void): Promise<unknown>
}

/** `ready` throws or rejects where the end of a call could not be written. */
export function createBilling(ledger: Ledger, ready: () => Promise<void> | undefined): Billing {
  /** The requests for which money was set aside here. */
  const reservedIds = new Set<string>()

  async function reserveCost(
    request: RequestMetadata,
    bound: CostBound | undefined,
    alongside?: () => void,
  ): Promise<void> {
    // A model without a price is never taken as free.
    if (bound === undefined) {
      throw billingNotConfigured(`The model ${request.model} has no price, so no balance can pay for it.`)
    }
    const { maxCost, promptCost, promptTokens } = bound
    // Before it is known: a caller who leaves meanwhile ends the call behind it.
    if (!alongside) reservedIds.add(request.id)
    if (await ledger.reserve({ request, amount: maxCost, promptCost, promptTokens }, alongside)) return
    if (maxCost === 0n) throw insufficientBalance('The balance is below zero. It has to be credited first.')
    const needed = `This request may cost up to ${usdText(maxCost)} USD, and the balance does not hold that.`
    throw insufficientBalance(`${needed} A smaller max_tokens asks for less.`)
  }

  return {
    reserve(request, billing, spending, alongside) {
      if (billing === 'unmetered') return alongside ? ledger.write(alongside) : ready()
      if (billing === 'none') throw billingNotConfigured('The organization of this API key has no billing.')
      return reserveCost(request, spending(), alongside)
    },
    settle: (request, outcome, alongside) =>
      ledger.settle(request, outcome, { alongside, reserved: reservedIds.delete(request.id) }),
    settleEventually: ledger.settleEventually,
  }
}

/** For rows that could not be written at once, while nothing was promised to anybody. */
export function logFailedSettlement(log: Log): (error: unknown) => void {
  return (error) => log.error('The usage of a request was not written at once.', { cause: causeOf(error) })
}
