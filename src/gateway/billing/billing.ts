import type { BillingMode, Organization } from '../../domain/accounting/organization.ts'
import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import {
  type ApiError,
  billingNotConfigured,
  insufficientBalance,
  interrupted,
} from '../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import { type Ledger, noWrites, type Settlement, type Write } from '../../storage/ports/ledger.ts'
import { isUnavailable } from '../../storage/ports/health.ts'
import type { CostBound } from './cost-bound.ts'

/** Reserves and charges what requests cost. */
export type Billing = {
  /**
   * Reserves the maximum cost of the call for an organization that pays in advance; throws or rejects with
   * the 402. Returns undefined where there is nothing to wait for. `writes` are executed in the same
   * transaction; a call that runs later has some.
   */
  reserve(
    request: RequestMetadata,
    billing: BillingMode,
    spending: () => CostBound | undefined,
    writes?: readonly Write[],
  ): Promise<void> | undefined
  /**
   * Stores the outcome of a request and charges its cost; resolves when that, and what the writes store, is
   * on disk. The usage of a request that has reserved nothing follows a moment later; while the database is
   * unavailable, so does the outcome of any request that stores nothing. Rejects with `interrupted` for an
   * answer that other processes have settled, because this instance was evicted: what the answer
   * promises is not stored.
   */
  settle(request: RequestMetadata, outcome: Outcome, writes?: readonly Write[]): Promise<unknown>
  /** The same for a reserved call, retried until it is stored: resolves then, however long it takes. */
  settleEventually(request: RequestMetadata, outcome: Outcome, writes?: readonly Write[]): Promise<unknown>
}

/** `ready` throws or rejects while the outcome of a call could not be stored. */
export function createBilling(ledger: Ledger, ready: () => Promise<void> | undefined): Billing {
  /** The requests with a reservation of this process. */
  const reserving = new WeakSet<RequestMetadata>()

  /**
   * What other processes have settled must fail a successful answer. Where there are none, the answer was stored by an
   * attempt that seemed to have failed, or its organization was deleted meanwhile.
   */
  function confirm({ error }: Outcome, settled: Promise<Settlement>): Promise<unknown> {
    return ledger.isShared && error === undefined ? settled.then(requireRecorded) : settled
  }

  async function reserveCost(
    request: RequestMetadata,
    bound: CostBound | undefined,
    writes: readonly Write[],
  ): Promise<void> {
    // A model without a price is never treated as free.
    if (bound === undefined) {
      throw billingNotConfigured(
        `The model ${request.model} has no price, so it is not available with prepaid billing.`,
      )
    }
    const { maxCost, promptCost, promptTokens } = bound
    // Before the reservation is stored: a caller who leaves in the meantime settles the call after it.
    if (writes.length === 0) reserving.add(request)
    const bounds = { amount: maxCost, promptCost, promptTokens }
    const refusal = await ledger.reserve({ request, ...bounds, prepaid: true, budgets: [] }, writes)
    if (refusal !== undefined) throw tooExpensive(maxCost)
  }

  function settle(request: RequestMetadata, outcome: Outcome, writes = noWrites): Promise<unknown> {
    const reserved = reserving.delete(request)
    if (!reserved && writes.length === 0) return ledger.recordUsage(request, outcome)
    const settled = ledger.settle(request, outcome, { writes, reserved })
    return confirm(outcome, writes.length === 0 ? orLater(settled) : settled)
  }

  return {
    reserve(request, billing, spending, writes = noWrites) {
      if (billing === 'unmetered') return writes.length > 0 ? ledger.write(writes) : ready()
      if (billing === 'none') throw noBilling()
      return reserveCost(request, spending(), writes)
    },
    settle,
    settleEventually: (request, outcome, writes) =>
      confirm(outcome, ledger.settleEventually(request, outcome, writes)),
  }
}

function tooExpensive(maxCost: Nanos): ApiError {
  if (maxCost === 0n)
    return insufficientBalance('Insufficient balance: the balance is below zero. Add credit first.')
  const needed = `Insufficient balance: this request may cost up to ${formatUsd(maxCost)} USD.`
  return insufficientBalance(`${needed} Add credit, or send a smaller max_tokens.`)
}

/** The answer is sent without its settlement, which the ledger retries: its provider has generated it. */
function orLater(settled: Promise<Settlement>): Promise<Settlement> {
  return settled.catch((error: unknown) => {
    if (!isUnavailable(error)) throw error
    return { recorded: true, charged: 0n }
  })
}

function requireRecorded({ recorded }: Settlement): void {
  if (!recorded) throw interrupted()
}

/** Logs a settlement that could not be stored at once, where no caller depends on it. */
export function logFailedSettlement(log: Log): (error: unknown) => void {
  return (error) => log.error('The usage of a request could not be written yet.', { cause: causeOf(error) })
}

/** An organization, and whether its balance was above zero at most a second ago. */
type Payer = { readonly organization: Pick<Organization, 'billing'>; readonly hasCredit: boolean }

/** Throws the 402 of an organization that cannot pay for any request, whatever that costs. */
export function requireCredit({ organization: { billing }, hasCredit }: Payer): void {
  if (billing === 'none') throw noBilling()
  if (billing === 'prepaid' && !hasCredit)
    throw insufficientBalance('Insufficient balance: the balance is zero or less. Add credit first.')
}

/** 402: the organization has no billing. */
function noBilling(): ApiError {
  return billingNotConfigured('Billing is not configured for the organization of this API key.')
}
