import type { GenerationEvent } from '../../domain/generation/events.ts'
import { totalChoices } from '../../domain/generation/inputs.ts'
import type { MeteredRequest } from './clamp-usage.ts'
import { conservativeTokens } from './conservative-tokens.ts'

/** Assumed for each choice while its output cannot be seen. */
const tokensPerSecond = 100

/** Two chunks of a flowing answer are less than this apart. */
const silenceMs = 200

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
  readonly #tokensPerMillisecond: number
  /** Since when more may have been generated than received; undefined while that is not so. */
  #unreceivedSince: number | undefined
  #events = 0
  #received = 0
  #unreceived = 0
  /** The last count of the provider, and the own count at that time. */
  #reported = 0
  #countedAtReport = 0

  constructor({ generation, model, stream }: MeteredRequest, now: () => number) {
    this.#now = now
    this.#stream = stream
    this.#reasons = model.reasoning !== undefined
    this.#tokensPerMillisecond = (tokensPerSecond * totalChoices(generation)) / 1000
  }

  /**
   * A provider accepts a stream with its headers; an answer that is not streamed is generated before anything
   * is received.
   */
  requestSent(): void {
    if (this.#reasons || !this.#stream) this.#unreceivedSince = this.#now()
  }

  accepted(): void {
    this.#unreceivedSince ??= this.#now()
  }

  attemptFailed(): void {
    this.#unreceivedSince = undefined
  }

  readerPaused(): void {
    this.#unreceivedSince ??= this.#now()
  }

  add(batch: readonly GenerationEvent[]): void {
    // An answer that is not streamed comes with its end, and is never unfinished.
    if (!this.#stream) return
    const before = this.#receivedTokens()
    let hasReport = false
    for (const event of batch) hasReport = this.#addEvent(event) || hasReport
    const received = this.#receivedTokens() - before
    if (this.#unreceivedSince === undefined || received === 0) return
    const unreceived = this.#endSilence(this.#unreceivedSince, before > 0, received)
    // The provider's count includes that time.
    if (hasReport) this.#countedAtReport += unreceived
  }

  /** The estimate up to now; not an integer. */
  tokens(): number {
    const unreceived = this.#unreceivedUntil(this.#now())
    const counted = this.#counted()
    return Math.max(counted, this.#reported + counted - this.#countedAtReport) + unreceived
  }

  /** Adds the tokens not received since then, and returns them. */
  #endSilence(since: number, hasBegun: boolean, received: number): number {
    const now = this.#now()
    // The tokens received were generated in that time, except the few that come after a silence.
    const isFlowing = hasBegun && now - since < silenceMs
    const unreceived = Math.max(0, this.#unreceivedUntil(now) - (isFlowing ? received : 0))
    this.#unreceived += unreceived
    this.#unreceivedSince = this.#reasons ? now : undefined
    return unreceived
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
    this.#countedAtReport = this.#counted()
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

  #counted(): number {
    return this.#receivedTokens() + this.#unreceived
  }

  #unreceivedUntil(now: number): number {
    return this.#unreceivedSince === undefined
      ? 0
      : (now - this.#unreceivedSince) * this.#tokensPerMillisecond
  }
}
