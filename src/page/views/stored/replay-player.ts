import { Answer } from '../../api/answer.ts'
import { createResponseEventParser } from '../../api/answer-events.ts'
import { type ApiClient, readEvents } from '../../api/client.ts'

/** An event of a stored response: its name, its JSON, and the length of what it adds. */
export type ReplayEvent = { readonly name: string; readonly data: string; readonly length: number }

/** Plays the events of a response, spread over a duration by what each of them adds. */
export class ReplayPlayer {
  readonly answer: Answer
  /** The number of events that have been played. */
  played = 0
  playing = false
  readonly #events: readonly ReplayEvent[]
  readonly #durationMs: number
  readonly #total: number
  readonly #parse = createResponseEventParser()
  #length = 0
  /** Milliseconds of the replay that had passed when it was last started. */
  #elapsed = 0
  #startedAt = 0
  #frame: number | undefined

  constructor(events: readonly ReplayEvent[], durationMs: number) {
    this.#events = events
    this.#durationMs = durationMs
    this.#total = events.reduce((sum, { length }) => sum + length, 0)
    this.answer = new Answer(performance.now())
  }

  get finished(): boolean {
    return this.played >= this.#events.length
  }

  play(): void {
    if (this.playing || this.finished) return
    this.playing = true
    this.#startedAt = performance.now()
    this.#step()
  }

  pause(): void {
    if (!this.playing) return
    this.playing = false
    this.#elapsed += performance.now() - this.#startedAt
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.answer.changed()
  }

  /** Plays what is due at this frame. */
  #step(): void {
    const now = performance.now()
    const elapsed = this.#elapsed + now - this.#startedAt
    const due = this.#durationMs === 0 ? Infinity : (elapsed / this.#durationMs) * this.#total
    for (let count = 0; count < maxEventsPerFrame && !this.finished && this.#length <= due; count++)
      this.#playNext(now)
    this.answer.changed()
    if (this.finished) this.playing = false
    else this.#frame = requestAnimationFrame(() => this.#step())
  }

  #playNext(now: number): void {
    const event = this.#events[this.played++]
    if (event === undefined) return
    this.#length += event.length
    const delta = this.#parse(event.data)
    if (delta !== undefined) this.answer.add(delta, now)
  }
}

/** So that a frame is short, also where everything is due at once. */
const maxEventsPerFrame = 500

/** The events of a response; `complete` is false where there are more than are kept. */
export type LoadedEvents = { readonly events: readonly ReplayEvent[]; readonly complete: boolean }

const maxEvents = 200_000
/** Characters. */
const maxLength = 64 * 1024 * 1024

/** Loads the events of a stored response. */
export async function loadEvents(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
): Promise<LoadedEvents> {
  const controller = new AbortController()
  const stop = AbortSignal.any([signal, controller.signal])
  const response = await client.open(`${path}?stream=true`, { signal: stop })
  const events: ReplayEvent[] = []
  let length = 0
  let complete = true
  const receive = readEvents(response, (received) => {
    for (const { event, data } of received) {
      length += data.length
      complete &&= events.length < maxEvents && length < maxLength
      if (complete && data !== '') events.push({ name: event, data, length: lengthOf(event, data) })
    }
    if (!complete) controller.abort()
  })
  await receive.catch((error: unknown) => {
    if (complete || signal.aborted) throw error
  })
  return { events, complete }
}

/** The characters that an event adds; the others take as long as one character. */
function lengthOf(name: string, data: string): number {
  if (!name.endsWith('.delta')) return 1
  const { delta } = JSON.parse(data) as { readonly delta?: unknown }
  return typeof delta === 'string' ? delta.length : 1
}
