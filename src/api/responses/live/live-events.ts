import type { OnItem, PushStream } from '../../../lib/push-stream.ts'
import type { RunEvent } from '../events/run-event.ts'
import type { LiveResponse } from './live-response.ts'

/** The maximum number of events in a batch: the next batch is made when the reader has taken this one. */
export const maxBatch = 256

/**
 * The events of a live response: those so far, then new ones as they come, until it has ended. A reader who has received
 * events that were replaced by others gets no more of them, and so no end.
 */
export class LiveEvents implements PushStream<readonly RunEvent[]> {
  readonly #live: LiveResponse
  #events: readonly RunEvent[]
  #position = 0
  #closed = false
  #wake = () => {}

  constructor(live: LiveResponse) {
    this.#live = live
    this.#events = live.events
  }

  async forEach(onBatch: OnItem<readonly RunEvent[]>): Promise<void> {
    while (!this.#closed && this.#isCurrent()) {
      const batch = this.#live.events.slice(this.#position, this.#position + maxBatch)
      this.#position += batch.length
      if (batch.length > 0) await onBatch(batch)
      else if (this.#live.finished) return
      else await this.#nextEvent()
    }
  }

  /** Ends the wait for the next event, which may be a long one. */
  close(): void {
    this.#closed = true
    this.#live.removeListener(this.#wake)
    this.#wake()
  }

  /** False if the reader has received events that were replaced. */
  #isCurrent(): boolean {
    const { events, kept } = this.#live
    const isReplaced = events !== this.#events
    this.#events = events
    return !isReplaced || this.#position <= kept
  }

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#live.onNextEvent(resolve)
    })
  }
}
