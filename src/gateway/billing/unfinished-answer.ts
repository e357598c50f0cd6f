import type { GenerationEvent } from '../../domain/generation/events.ts'
import { totalChoices } from '../../domain/generation/request.ts'
import { RecentMap } from '../../lib/recent-map.ts'
import { type ModelRoute, routeKey } from '../models/model.ts'
import type { MeteredRequest } from './cost-bound.ts'
import { conservativeTokens } from './estimate.ts'

/** Assumed for each choice while its output cannot be seen, if no higher speed is known. */
const minTokensPerSecond = 100

/** Two chunks of a flowing answer are less than this apart. */
const silenceMs = 200

/** So much of a flowing answer shows the speed of its model. */
const minFlowTokens = 64
const minFlowMs = 500

/** The part of an answer that was generated up to some moment. */
type Progress = {
  /** Tokens that may have been generated between chunks that follow one another, beyond those received. */
  readonly excess: number
  readonly received: number
  /** The time in which more may have been generated than was received. */
  readonly silentMs: number
}

const noProgress: Progress = { excess: 0, received: 0, silentMs: 0 }

/**
 * Estimates the tokens that a provider has generated of an answer that may never be complete: those received,
 * and for times in which more may have been generated than was received, what a model generates in that time.
 * These are the time to the first token, the full time of an answer that is not streamed, the silence of a
 * model that reasons, and the time in which a caller does not read.
 */
export class UnfinishedAnswer {
  readonly #now: () => number
  readonly #stream: boolean
  readonly #reasons: boolean
  readonly #choices: number
  #tokensPerSecond = minTokensPerSecond
  /** Since when more may have been generated than received; undefined while that is not so. */
  #silentSince: number | undefined
  #paused = false
  #events = 0
  #received = 0
  #excess = 0
  #silentMs = 0
  /** The characters that were received while the answer was flowing, and how long that took. */
  #flowTokens = 0
  #flowMs = 0
  /** The last count of the provider, and the own count at that time. */
  #reported = 0
  #atReport = noProgress

  constructor({ generation, model, stream }: MeteredRequest, now: () => number) {
    this.#now = now
    this.#stream = stream
    this.#reasons = model.reasoning !== undefined
    this.#choices = totalChoices(generation)
  }

  /**
   * A provider accepts a stream with its headers; an answer that is not streamed is generated before anything
   * is received. `tokensPerSecond` is the speed of the route for one choice, where it is known.
   */
  requestSent(tokensPerSecond = 0): void {
    if (!this.#reasons && this.#stream) return
    this.#silentSince = this.#now()
    this.#tokensPerSecond = Math.max(minTokensPerSecond, tokensPerSecond)
  }

  accepted(): void {
    this.#silentSince ??= this.#now()
  }

  attemptFailed(): void {
    this.#silentSince = undefined
  }

  readerPaused(): void {
    this.#paused = true
    this.#silentSince ??= this.#now()
  }

  add(batch: readonly GenerationEvent[]): void {
    // An answer that is not streamed comes with its end, and is never unfinished.
    if (!this.#stream) return
    const before = this.#receivedTokens()
    let hasReport = false
    for (const event of batch) hasReport = this.#addEvent(event) || hasReport
    const received = this.#receivedTokens() - before
    if (received > 0) this.#endSilence(before > 0, received)
    // The provider's count includes the time before it.
    if (hasReport) this.#atReport = { ...this.#progress(), received: this.#atReport.received }
  }

  /** The estimate up to now; not an integer. */
  tokens(): number {
    const { received, excess, silentMs } = this.#progress()
    const speed = this.#tokensPerMillisecond()
    const open = this.#silentSince === undefined ? 0 : this.#now() - this.#silentSince
    const counted = received + excess + silentMs * speed
    const atReport = this.#atReport.received + this.#atReport.excess + this.#atReport.silentMs * speed
    return Math.max(counted, this.#reported + counted - atReport) + open * speed
  }

  /** Whether the model may have reasoned in silence, and its answer does not show yet how fast it generates. */
  hidesReasoning(): boolean {
    return this.#reasons && this.#stream && this.#events > 0 && this.#flowSpeed() === undefined
  }

  #endSilence(hasBegun: boolean, received: number): void {
    const since = this.#silentSince
    if (since === undefined) return
    const now = this.#now()
    const milliseconds = now - since
    // The tokens received were generated in that time, except the few that come after a silence.
    if (hasBegun && milliseconds < silenceMs) {
      this.#excess += Math.max(0, milliseconds * this.#tokensPerMillisecond() - received)
      this.#flowTokens += this.#paused ? 0 : received
      this.#flowMs += this.#paused ? 0 : milliseconds
    } else this.#silentMs += milliseconds
    this.#paused = false
    this.#silentSince = this.#reasons ? now : undefined
  }

  /** Tokens per millisecond of all choices, while they flow; undefined where too little has been received. */
  #flowSpeed(): number | undefined {
    if (this.#flowTokens < minFlowTokens || this.#flowMs < minFlowMs) return undefined
    return this.#flowTokens / this.#flowMs
  }

  #tokensPerMillisecond(): number {
    return Math.max((this.#tokensPerSecond * this.#choices) / 1000, this.#flowSpeed() ?? 0)
  }

  /** Returns true for a usage event. */
  #addEvent(event: GenerationEvent): boolean {
    if (event.type === 'text' || event.type === 'reasoning') this.#addText(event.text)
    // By its fragments, so that a tool call that is cut off counts, too.
    else if (event.type === 'tool-call-begin') this.#addText(event.name)
    else if (event.type === 'tool-call-delta') this.#addText(event.arguments)
    else if (event.type === 'provider-block') this.#addText(JSON.stringify(event.block))
    if (event.type !== 'usage') return false
    this.#reported = event.usage.completionTokens
    this.#atReport = this.#progress()
    return true
  }

  #addText(text: string): void {
    this.#events += 1
    this.#received += conservativeTokens(text)
  }

  /** An event has at least one token. */
  #receivedTokens(): number {
    return Math.max(this.#events, this.#received)
  }

  #progress(): Progress {
    return { excess: this.#excess, received: this.#receivedTokens(), silentMs: this.#silentMs }
  }
}

/** Beyond it an answer was not generated, but came from a cache of the provider. */
const maxTokensPerSecond = 5000
/** A complete answer that is slower than the known speed moves it by this part of the difference. */
const decay = 1 / 32
/** Beyond them the oldest are dropped. */
const maxRoutes = 4096

/**
 * How fast the routes generate, by their complete answers: near the fastest of the last ones. Of a model that reasons
 * unseen, nothing else says how much it has generated when a caller leaves.
 */
export class RouteSpeeds {
  readonly #speeds = new RecentMap<string, number>(maxRoutes)

  /** Tokens per second of one choice; undefined for a route without a complete answer so far. */
  of(route: ModelRoute): number | undefined {
    return this.#speeds.get(routeKey(route))
  }

  /** Adds the speed of a complete answer. */
  record(route: ModelRoute, tokensPerSecond: number): void {
    if (tokensPerSecond > maxTokensPerSecond) return
    const key = routeKey(route)
    const known = this.#speeds.get(key) ?? 0
    const lower = known + (tokensPerSecond - known) * decay
    this.#speeds.set(key, Math.max(tokensPerSecond, lower))
  }
}
