import { ApiError } from '../../../lib/errors/errors.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import type { Outcome } from '../../../domain/accounting/outcome.ts'

/** Settlements that could not be written, tried again until they are. */
export type LateSettling = {
  keep(request: RequestMetadata, outcome: Outcome): void
  /** Begins a last try. What fails then is settled at the next start. */
  close(): void
}

type Settle = (request: RequestMetadata, outcome: Outcome) => Promise<unknown>

type Late = { readonly request: RequestMetadata; readonly outcome: Outcome }

/** Milliseconds from one try to the next. */
const longPause = 1000
/** Those beyond are settled at the next start only. */
const most = 10_000

/** Tries all that it keeps with `settle`, once in so many milliseconds, while there are some. */
export function createLateSettling(settle: Settle, pause = longPause): LateSettling {
  let waiting: Late[] = []
  let timer: Timer | undefined
  let closed = false

  function add(late: Late): void {
    if (closed || waiting.length >= most) return
    waiting.push(late)
    timer ??= setTimeout(retry, pause).unref()
  }

  function retry(): void {
    timer = undefined
    const tried = waiting
    waiting = []
    for (const late of tried) void settleAgain(late)
  }

  async function settleAgain(late: Late): Promise<void> {
    try {
      await settle(late.request, late.outcome)
    } catch (error) {
      if (passes(error)) add(late)
    }
  }

  return {
    keep: (request, outcome) => add({ request, outcome: toldOf(outcome) }),
    close() {
      closed = true
      clearTimeout(timer)
      retry()
    },
  }
}

/** A reply that was whole was not given, because its end could not be written. */
function toldOf(outcome: Outcome): Outcome {
  return outcome.error === undefined ? { ...outcome, status: 503, error: 'service_unavailable' } : outcome
}

function passes(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503
}
