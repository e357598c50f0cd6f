import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { TransientMap } from '../../../lib/transient.ts'
import type { FinishedStatus, ResponseEnd } from '../../../storage/ports/responses.ts'
import { encodeEvents } from '../events/event-log.ts'
import { step } from '../events/reduce.ts'
import { type RunEnd, type RunEvent, toRunEvent } from '../events/run-event.ts'
import { initialState, isFinished, type ResponseState, type StreamEvent } from '../events/state.ts'
import { createToolEvents, type ToolEvents } from '../events/tool-events.ts'
import type { ResponseHead } from '../request/head.ts'

const noEvents: readonly StreamEvent[] = []

/** A response in progress: its state, its events so far, and the listeners that wait for the next one. */
export class LiveResponse {
  readonly organization: string
  readonly head: ResponseHead
  #state: ResponseState
  #events: RunEvent[] = []
  #stored = 0
  /** How many of the first events a client may have seen. */
  #seen = 0
  #keptAtRestart: number | undefined
  readonly #listeners = new Set<() => void>()
  #ending = false
  /** Only for a response with tools, or with the state of its reasoning. */
  #toolEvents: ToolEvents | undefined

  constructor(organization: string, head: ResponseHead) {
    this.organization = organization
    this.head = head
    this.#toolEvents = createToolEvents(head)
    this.#state = initialState(head)
  }

  get id(): string {
    return this.head.id
  }

  get state(): ResponseState {
    return this.#state
  }

  /** The state, for a client. */
  show(): ResponseState {
    this.markSeen(this.#events.length)
    return this.#state
  }

  /** The events so far; always empty for a response that is not stored. */
  get events(): readonly RunEvent[] {
    return this.#events
  }

  /**
   * How many of the first events readers may receive. Of a background run these are the stored ones: the others would be
   * lost if the process was killed, and their sequence numbers would get other events.
   */
  get readable(): number {
    return this.#isRecoverable() ? this.#stored : this.#events.length
  }

  /** Whether a reader, or a client that cancels, waits for the next readable event. */
  get awaited(): boolean {
    return this.#listeners.size > 0
  }

  /** Whether the response has ended. */
  get finished(): boolean {
    return isFinished(this.#state)
  }

  /** Whether its end is being stored: then other processes may know it before this one. */
  get ending(): boolean {
    return this.#ending && !this.finished
  }

  /** Applies an event and returns the stream events that it causes; a finished response ignores it. */
  apply(event: RunEvent): readonly StreamEvent[] {
    if (this.finished) return []
    const [state, emitted] = step(this.#state, event)
    this.#state = state
    // The events of a response that is not stored are never replayed.
    if (this.head.store) this.#events.push(event)
    if (!this.#isRecoverable()) this.#notify()
    return emitted
  }

  /** Applies an event of the model. */
  applyGenerated(event: GenerationEvent): readonly StreamEvent[] {
    const { provider } = this.#state
    if (this.#toolEvents)
      return this.#toolEvents.convert(event, provider).flatMap((runEvent) => this.apply(runEvent))
    const runEvent = toRunEvent(event)
    return runEvent ? this.apply(runEvent) : noEvents
  }

  /** Marks the first events of a background run as stored: all so far, or this number. */
  markStored(count = this.#events.length): void {
    if (count <= this.#stored) return
    this.#stored = count
    this.#notify()
  }

  /** Marks the first events, this number, as seen by a client. */
  markSeen(count: number): void {
    this.#seen = Math.max(this.#seen, count)
  }

  /** Whether the answer can start again: not once a client may have seen some of it. */
  canRestart(): boolean {
    const beginning = this.#beginning()
    return beginning > 0 && this.#seen <= beginning && this.#keptAtRestart === undefined && !this.#ending
  }

  /** How many events were kept when the answer started again; undefined if it has not. */
  get keptAtRestart(): number | undefined {
    return this.#keptAtRestart
  }

  /** Removes the events of the answer, except that a provider has answered; those of another answer follow. */
  restart(): void {
    const kept = this.#beginning()
    this.#keptAtRestart = kept
    this.#events = this.#events.slice(0, kept)
    this.#stored = Math.min(this.#stored, kept)
    this.#state = this.#events.reduce((state, event) => step(state, event)[0], initialState(this.head))
    this.#toolEvents = createToolEvents(this.head)
  }

  /** The events up to the begin of the answer. */
  #beginning(): number {
    return this.#events.findIndex(({ type }) => type === 'answering') + 1
  }

  /**
   * Ends the response with the events that are stored, which include its end. Those that were not stored so far may be
   * others: another process that has ended the response did not know them.
   */
  endAs(stored: RunEvent[]): void {
    if (this.finished) return
    this.#events = stored
    this.#state = stored.reduce((state, event) => step(state, event)[0], initialState(this.head))
    this.#notify()
  }

  /** Calls the listener once, after the next readable event. */
  onNextEvent(listener: () => void): void {
    this.#listeners.add(listener)
  }

  removeListener(listener: () => void): void {
    this.#listeners.delete(listener)
  }

  /** Returns what is to be stored once the response has ended so; does not apply the end. */
  toResponseEnd(end: RunEnd): ResponseEnd {
    this.#ending = true
    const [{ status }] = step(this.#state, end)
    // Every end leads to a finished status, and a response has one end.
    const log = encodeEvents([...this.#events, end])
    return { status: status as FinishedStatus, log, cancelled: end.type === 'cancelled' }
  }

  /** Whether the next process continues or ends the response, from its stored events. */
  #isRecoverable(): boolean {
    return this.head.background && !this.finished
  }

  #notify(): void {
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }
}

/** The responses in progress that are stored or queued, by which other requests find them. */
export type LiveResponses = {
  /**
   * A response that this process generates or ends. Undefined for an id without one, and for one of another organization.
   */
  find(organization: string, id: string): LiveResponse | undefined
  /** The response of a run in the queue of this process, which another process may claim. */
  findQueued(organization: string, id: string): LiveResponse | undefined
  addQueued(response: LiveResponse): void
  /** Adds a response, or marks one that was queued as generated by this process. */
  add(response: LiveResponse): void
  /** Removes a response that has ended, or that another process has: from then on it is found in the database. */
  remove(response: LiveResponse): void
}

type Entry = { readonly response: LiveResponse; readonly queued: boolean }

/** A registry without responses. */
export function createLiveResponses(): LiveResponses {
  const entries = new TransientMap<Entry>()

  function find(organization: string, id: string, queued: boolean): LiveResponse | undefined {
    const found = entries.get(id)
    return found?.queued === queued && found.response.organization === organization
      ? found.response
      : undefined
  }

  return {
    find: (organization, id) => find(organization, id, false),
    findQueued: (organization, id) => find(organization, id, true),
    addQueued: (response) => entries.set(response.id, { response, queued: true }),
    add: (response) => entries.set(response.id, { response, queued: false }),
    remove(response) {
      // The entry may be a later one of the same response.
      if (entries.get(response.id)?.response === response) entries.delete(response.id)
    },
  }
}
