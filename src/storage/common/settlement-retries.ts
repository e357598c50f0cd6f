import type { Outcome, RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { responseNotStored } from '../../lib/errors/errors.ts'
import { withTimeout } from '../../lib/time.ts'
import { type Ledger, noWrites, type Settlement, type SettleOptions } from '../ports/ledger.ts'
import { isUnavailable, retryWhileUnavailable } from '../ports/health.ts'

/** Settlements that could not be written, and are retried until they are. */
export type SettlementRetries = {
  add(request: RequestMetadata, outcome: Outcome): void
  /** Starts a last attempt. A settlement that fails then is recovered at the next start. */
  close(): void
}

type SettleAlone = (request: RequestMetadata, outcome: Outcome) => Promise<unknown>

type PendingSettlement = { readonly request: RequestMetadata; readonly outcome: Outcome }

const defaultIntervalMs = 1000
/** Settlements beyond this number are recovered at the next start. */
const maxPending = 10_000

/** Retries all pending settlements with `settle` once per interval. */
export function createSettlementRetries(
  settle: SettleAlone,
  intervalMs = defaultIntervalMs,
): SettlementRetries {
  let pending: PendingSettlement[] = []
  let timer: Timer | undefined
  let closed = false

  function add(settlement: PendingSettlement): void {
    if (closed || pending.length >= maxPending) return
    pending.push(settlement)
    timer ??= setTimeout(retryAll, intervalMs).unref()
  }

  function retryAll(): void {
    timer = undefined
    const retried = pending
    pending = []
    for (const settlement of retried) void retry(settlement)
  }

  async function retry(settlement: PendingSettlement): Promise<void> {
    try {
      await settle(settlement.request, settlement.outcome)
    } catch (error) {
      if (isUnavailable(error)) add(settlement)
    }
  }

  return {
    // Thousands of them would fill the memory: what is retried is recorded without its content.
    add: (request, outcome) => add({ request, outcome: { ...outcome, content: undefined } }),
    close() {
      closed = true
      clearTimeout(timer)
      retryAll()
    },
  }
}

/** How a store settles a request once. */
export type SettleNow = (
  request: RequestMetadata,
  outcome: Outcome,
  options: SettleOptions,
) => Promise<Settlement>

/** For how long the storing of a complete answer is retried, while its client waits. */
const defaultStoreTimeoutMs = 4000
/** For the outcome of the last attempt: longer than a statement of PostgreSQL may wait for a lock, so that only a frozen server leaves it open. */
const defaultAttemptTimeoutMs = 6000

/** Creates `Ledger.settle`; `closing` aborts just before the retries are closed. */
export function createSettle(
  settleNow: SettleNow,
  retries: Pick<SettlementRetries, 'add'>,
  closing: AbortSignal,
  storeTimeoutMs = defaultStoreTimeoutMs,
  attemptTimeoutMs = defaultAttemptTimeoutMs,
): Ledger['settle'] {
  return (request, outcome, options = {}) => {
    const { writes = noWrites } = options
    const attempt = () => settleNow(request, outcome, options)
    if (writes.length === 0 || outcome.error !== undefined) {
      return attempt().catch((error: unknown) => {
        retries.add(request, outcome)
        throw error
      })
    }
    const settleLater = () => retries.add(request, unstoredOutcome(outcome))
    const waiting = new AbortController()
    let cause: unknown = new Error('The database did not answer in time.')
    const stored = attempt().catch((error: unknown) => {
      cause = error
      return storeLate(attempt, error, settleLater, { closing, timedOut: waiting.signal })
    })
    return withTimeout(stored, storeTimeoutMs, () => storeTimedOut).catch((error: unknown) => {
      if (error !== storeTimedOut) throw error
      waiting.abort()
      return withTimeout(stored, attemptTimeoutMs, () => responseNotStored(cause))
    })
  }
}

const storeTimedOut = new Error('The answer was not stored in time.')

/** Retries after this error until the answer is stored; calls `settleLater` and rejects when no attempt remains. */
async function storeLate(
  attempt: () => Promise<Settlement>,
  error: unknown,
  settleLater: () => void,
  { closing, timedOut }: { readonly closing: AbortSignal; readonly timedOut: AbortSignal },
): Promise<Settlement> {
  let settled = false
  const settleOnce = () => {
    if (!settled) settleLater()
    settled = true
  }
  // Not after the last attempt: the retries are closed then.
  closing.addEventListener('abort', settleOnce)
  try {
    if (!isUnavailable(error) || closing.aborted || timedOut.aborted) throw error
    return await retryWhileUnavailable(attempt, AbortSignal.any([closing, timedOut]))
  } catch {
    settleOnce()
    throw responseNotStored(error)
  } finally {
    closing.removeEventListener('abort', settleOnce)
  }
}

/** The outcome of an answer that could not be stored: its client received an error, although the provider succeeded. */
function unstoredOutcome(outcome: Outcome): Outcome {
  return { ...outcome, status: 503, error: 'response_not_stored' }
}
