import type { Outcome } from '../../domain/accounting/request-metadata.ts'
import type { SettleNow } from './settlement-retries.ts'

/** Characters. */
const maxWaiting = 64 * 1024 * 1024

/**
 * The content that waits for the database, with a bound: a slow database must not fill the memory, and no request fails for its
 * content. What is beyond the bound is not kept.
 */
export class WaitingContent {
  readonly #max: number
  #length = 0

  constructor(max = maxWaiting) {
    this.#max = max
  }

  /** Returns the outcome with its content if that fits, which waits until the outcome is released; else without it. */
  admit(outcome: Outcome): Outcome {
    const { length } = outcome.content ?? ''
    if (this.#length + length > this.#max) return { ...outcome, content: undefined }
    this.#length += length
    return outcome
  }

  release({ content = '' }: Outcome): void {
    this.#length -= content.length
  }
}

/** Settles requests with as much content as can wait. */
export function withBoundedContent(settle: SettleNow, waiting: WaitingContent): SettleNow {
  return (request, outcome, options) => {
    if (outcome.content === undefined) return settle(request, outcome, options)
    const admitted = waiting.admit(outcome)
    return settle(request, admitted, options).finally(() => waiting.release(admitted))
  }
}
