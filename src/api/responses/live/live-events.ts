import type { OnItem, PushStream } from '../../../lib/push-stream.ts'
import type { RunEvent } from '../events/run-event.ts'
import type { LiveResponse } from './live-response.ts'

/** How much a reader takes at a time: more is made only when it has taken that. */
export const maxBatch = 256

/** What has happened to a response that is being made, and what still will. */
export class LiveEvents implements PushStream<readonly RunEvent[]> {
  readonly #live: LiveResponse
  #from = 0
  #closed = false
  #wake = () => {}

  constructor(live: LiveResponse) {
    this.#live = live
  }

  async each(take: OnItem<readonly RunEvent[]>): Promise<void> {
    while (!this.#closed) {
      const batch = this.#live.events.slice(this.#from, this.#from + maxBatch)
      this.#from += batch.length
      if (batch.length > 0) await take(batch)
      else if (this.#live.over) return
      else await this.#grown()
    }
  }

  /** Nothing may happen for long, and a reader who has left must not wait for it. */
  close(): void {
    this.#closed = true
    this.#live.forget(this.#wake)
    this.#wake()
  }

  #grown(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
      this.#live.whenGrown(resolve)
    })
  }
}
