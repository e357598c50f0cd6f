import type { OnItem, PushStream } from '../../../lib/push-stream.ts'
import type { RunEvent } from '../events/run-event.ts'
import type { LiveResponse } from './live-response.ts'

/** The maximum number of events in a batch: the next batch is made when the reader has taken this one. */
export const maxBatch = 256

/** The readable events of a live response: those so far, then new ones as they come, until it has ended. */
export class LiveEvents implements PushStream<readonly RunEvent[]> {
  readonly #live: LiveResponse
  #position = 0
  #closed = false
  #wake = () => {}

  constructor(live: LiveResponse) {
    this.#live = live
  }

  async forEach(onBatch: OnItem<readonly RunEvent[]>): Promise<void> {
    while (!this.#closed) {
      const { events, readable } = this.#live
      const batch = events.slice(this.#position, Math.min(this.#position + maxBatch, readable))
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

  #nextEvent(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#live.onNextEvent(resolve)
    })
  }
}
