import type { Organization } from '../../domain/accounting/organization.ts'
import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import {
  type ApiError,
  billingNotConfigured,
  insufficientBalance,
  interrupted,
} from '../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import {
  type BudgetLimit,
  type Ledger,
  noWrites,
  type Reservation,
  type Settlement,
  type Write,
} from '../../storage/ports/ledger.ts'
import { isUnavailable } from '../../storage/ports/health.ts'
import type { Payer } from '../access/caller-limits.ts'
import { budgetLimitsAt, budgetRejection } from './applied-budgets.ts'
import type { CostBound } from './cost-bound.ts'

/** Reserves and charges what requests cost. */
export type Billing = {
  /**
   * Reserves the maximum cost of the call from the balance of an organization that pays in advance, and from all budgets
   * in their present periods; throws or rejects with the 402. Returns undefined where there is nothing to wait for.
   * `writes` are executed in the same transaction; a call that runs later has some.
   */
  reserve(
    request: RequestMetadata,
    payer: Payer,
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

/**
 * `ready` throws or rejects while the outcome of a call could not be stored; `now` is milliseconds since 1970, by which the
 * periods of budgets begin.
 */
export function createBilling(
  ledger: Ledger,
  ready: () => Promise<void> | undefined,
  now: () => number = Date.now,
): Billing {
  /** The requests with a reservation of this process, and whether it is more than a part of the balance. */
  const reserving = new WeakMap<RequestMetadata, boolean>()

  async function reserveCost(
    request: RequestMetadata,
    payer: Payer,
    bound: CostBound | undefined,
    writes: readonly Write[],
  ): Promise<void> {
    // A model without a price is never treated as free.
    if (bound === undefined) throw unpriced(request, payer)
    const { budgets } = payer
    const time = budgets.length > 0 ? now() : 0
    // Before the reservation is stored: a caller who leaves in the meantime settles the call after it.
    if (writes.length === 0) reserving.set(request, budgets.length > 0)
    const rejection = await ledger.reserve(reservationOf(request, payer, bound, time), writes)
    if (rejection !== undefined)
      throw budgetRejection(rejection, budgets, bound.maxCost, time) ?? tooExpensive(bound.maxCost)
  }

  function settle(request: RequestMetadata, outcome: Outcome, writes = noWrites): Promise<unknown> {
    const budgeted = reserving.get(request)
    const reserved = budgeted !== undefined
    if (!reserved && writes.length === 0) return ledger.recordUsage(request, outcome)
    if (reserved) reserving.delete(request)
    const settled = ledger.settle(request, outcome, { writes, reserved, budgeted: budgeted === true })
    return confirm(ledger, outcome, writes.length === 0 ? orLater(settled) : settled)
  }

  return {
    reserve(request, payer, spending, writes = noWrites) {
      const { billing, budgets } = payer
      if (billing === 'none') throw noBilling()
      if (billing === 'prepaid' || budgets.length > 0) return reserveCost(request, payer, spending(), writes)
      return writes.length > 0 ? ledger.write(writes) : ready()
    },
    settle,
    settleEventually: (request, outcome, writes) =>
      confirm(ledger, outcome, ledger.settleEventually(request, outcome, writes)),
  }
}

/**
 * What other processes have settled must fail a successful answer. Where there are none, the answer was stored by an attempt
 * that seemed to have failed, or its organization was deleted meanwhile.
 */
function confirm(
  { isShared }: Pick<Ledger, 'isShared'>,
  { error }: Outcome,
  settled: Promise<Settlement>,
): Promise<unknown> {
  return isShared && error === undefined ? settled.then(requireRecorded) : settled
}

const noBudgets: readonly BudgetLimit[] = []

/** `time` is only read where there are budgets. */
function reservationOf(
  request: RequestMetadata,
  { billing, budgets }: Payer,
  { maxCost: amount, promptCost, promptTokens }: CostBound,
  time: number,
): Reservation {
  const prepaid = billing === 'prepaid'
  const limits = budgets.length > 0 ? budgetLimitsAt(budgets, time) : noBudgets
  return { request, amount, promptCost, promptTokens, prepaid, budgets: limits }
}

function unpriced({ model }: RequestMetadata, { billing }: Payer): ApiError {
  const where = billing === 'prepaid' ? 'with prepaid billing' : 'to a key with a budget'
  return billingNotConfigured(`The model ${model} has no price, so it is not available ${where}.`)
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
type Debtor = { readonly organization: Pick<Organization, 'billing'>; readonly hasCredit: boolean }

/** Throws the 402 of an organization that cannot pay for any request, whatever that costs. */
export function requireCredit({ organization: { billing }, hasCredit }: Debtor): void {
  if (billing === 'none') throw noBilling()
  if (billing === 'prepaid' && !hasCredit)
    throw insufficientBalance('Insufficient balance: the balance is zero or less. Add credit first.')
}

/** 402: the organization has no billing. */
function noBilling(): ApiError {
  return billingNotConfigured('Billing is not configured for the organization of this API key.')
}
