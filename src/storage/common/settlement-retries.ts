import type { Outcome } from '../../domain/accounting/outcome.ts'
import type { RequestMetadata } from '../../domain/accounting/request-metadata.ts'
import { ApiError } from '../../lib/errors/errors.ts'

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
      if (isTemporary(error)) add(settlement)
    }
  }

  return {
    add: (request, outcome) => add({ request, outcome }),
    close() {
      closed = true
      clearTimeout(timer)
      retryAll()
    },
  }
}

/** The outcome of a request whose end could not be written: its client received a 503 even if the provider succeeded. */
export function failedOutcome(outcome: Outcome): Outcome {
  return outcome.error === undefined ? { ...outcome, status: 503, error: 'service_unavailable' } : outcome
}

function isTemporary(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503
}
