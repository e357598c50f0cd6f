import type { OnItem, PushStream } from '../lib/push-stream.ts'
import type { LiveEvent } from './live-event.ts'

/** The most events that wait for a reader: others are dropped, and counted. */
const maxWaiting = 1000

/** The events that wait for one reader. */
export class LiveReader implements PushStream<LiveEvent> {
  readonly #onClosed: () => void
  #waiting: LiveEvent[] = []
  #dropped = 0
  #closed = false
  #wake: () => void = () => {}

  constructor(onClosed: () => void) {
    this.#onClosed = onClosed
  }

  get closed(): boolean {
    return this.#closed
  }

  push(event: LiveEvent): void {
    if (this.#waiting.length < maxWaiting) this.#waiting.push(event)
    else this.#dropped++
    this.#wake()
  }

  async forEach(onItem: OnItem<LiveEvent>): Promise<void> {
    while (!this.#closed) {
      for (const event of this.take()) await onItem(event)
      if (this.#waiting.length > 0 || this.#closed) continue
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  close(): void {
    this.#closed = true
    this.#onClosed()
    this.#wake()
  }

  /** Returns the waiting events; after them, how many were dropped since. */
  take(): readonly LiveEvent[] {
    const taken = this.#waiting
    if (this.#dropped > 0) taken.push({ type: 'dropped', events: this.#dropped })
    this.#waiting = []
    this.#dropped = 0
    return taken
  }
}
