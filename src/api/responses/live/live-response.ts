import type { FinishedStatus, ResponseEnd } from '../../../storage/ports/responses.ts'
import { encodeEvents } from '../events/log.ts'
import { step } from '../events/reduce.ts'
import type { RunEnd, RunEvent } from '../events/run-event.ts'
import { finished, initialState, type ResponseState } from '../events/state.ts'
import type { StreamEvent } from '../events/stream-event.ts'
import type { ResponseHead } from '../request/head.ts'

/** A response while it is made, with everything that has happened to it: whoever follows it reads along here. */
export class LiveResponse {
  readonly organization: string
  readonly head: ResponseHead
  #state: ResponseState
  readonly #events: RunEvent[] = []
  readonly #waiting = new Set<() => void>()

  constructor(organization: string, head: ResponseHead) {
    this.organization = organization
    this.head = head
    this.#state = initialState(head)
  }

  get id(): string {
    return this.head.id
  }

  get state(): ResponseState {
    return this.#state
  }

  get events(): readonly RunEvent[] {
    return this.#events
  }

  /** Nothing more will happen. */
  get over(): boolean {
    return finished(this.#state)
  }

  /** Lets it happen, and gives the stream events that tell it; nothing happens to a response that is over. */
  apply(event: RunEvent): readonly StreamEvent[] {
    if (this.over) return []
    const [state, told] = step(this.#state, event)
    this.#state = state
    // Of what is not kept nobody else will ask.
    if (this.head.store) this.#events.push(event)
    this.#wake()
    return told
  }

  /** Calls once, when more has happened. */
  whenGrown(wake: () => void): void {
    this.#waiting.add(wake)
  }

  /** Does not call any more. */
  forget(wake: () => void): void {
    this.#waiting.delete(wake)
  }

  /** What is to be stored when this has happened, too; it has not yet. */
  endedBy(end: RunEnd): ResponseEnd {
    const [{ status }] = step(this.#state, end)
    // Only an end changes it, and there is none yet.
    return { status: status as FinishedStatus, log: encodeEvents([...this.#events, end]) }
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }
}
