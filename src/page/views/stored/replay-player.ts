import { Answer } from '../../generation/answer.ts'
import { createResponseEventParser } from '../../generation/response-events.ts'

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
