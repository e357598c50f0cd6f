import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { MeteredRequest } from './clamp-usage.ts'
import { conservativeTokens } from './conservative-tokens.ts'

/** What a model is taken to generate where nothing of it can be seen, in each choice. */
const tokensPerSecond = 100

/** Between two pieces of an answer that flows there are fewer milliseconds. */
const silenceMs = 200

/**
 * Counts what a provider has generated of an answer that may never be whole: what was seen of it, and for times in
 * which more may have been generated than was seen, what a model generates in that time. These are the time until the
 * first token, all of an answer that comes whole at its end, the silence of a model that reasons, and the time in
 * which a caller does not read.
 */
export class UnfinishedAnswer {
  readonly #now: () => number
  readonly #stream: boolean
  readonly #reasons: boolean
  readonly #tokensPerMillisecond: number
  /** Since when more may be generated than is seen; undefined while that is not so. */
  #unreceivedSince: number | undefined
  #events = 0
  #received = 0
  #unreceived = 0
  /** What the provider counted last, and what this counted then. */
  #reported = 0
  #countedAtReport = 0

  constructor({ generation, model, stream }: MeteredRequest, now: () => number) {
    this.#now = now
    this.#stream = stream
    this.#reasons = model.reasoning !== undefined
    this.#tokensPerMillisecond = (tokensPerSecond * (generation.choices ?? 1)) / 1000
  }

  /** A provider accepts a stream with its headers; all else is generated before anything comes. */
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
    // A whole answer comes with its end, and is never unfinished.
    if (!this.#stream) return
    const before = this.#receivedTokens()
    let hasReport = false
    for (const event of batch) hasReport = this.#addEvent(event) || hasReport
    const received = this.#receivedTokens() - before
    if (this.#unreceivedSince === undefined || received === 0) return
    const unreceived = this.#endSilence(this.#unreceivedSince, before > 0, received)
    // What the provider has counted holds the time before.
    if (hasReport) this.#countedAtReport += unreceived
  }

  /** Up to now; not a whole number. */
  tokens(): number {
    const unreceived = this.#unreceivedUntil(this.#now())
    const counted = this.#counted()
    return Math.max(counted, this.#reported + counted - this.#countedAtReport) + unreceived
  }

  /** Adds what was not seen since then, and gives it. */
  #endSilence(since: number, hasBegun: boolean, received: number): number {
    const now = this.#now()
    // What is seen was itself generated in that time, but for the few tokens that come behind a silence.
    const isFlowing = hasBegun && now - since < silenceMs
    const unreceived = Math.max(0, this.#unreceivedUntil(now) - (isFlowing ? received : 0))
    this.#unreceived += unreceived
    this.#unreceivedSince = this.#reasons ? now : undefined
    return unreceived
  }

  /** True for the counts of the provider. */
  #addEvent(event: GenerationEvent): boolean {
    if (event.type === 'text' || event.type === 'reasoning') this.#addText(event.text)
    // By its fragments: a call that breaks off was generated, too.
    else if (event.type === 'tool-call-begin') this.#addText(event.name)
    else if (event.type === 'tool-call-delta') this.#addText(event.arguments)
    if (event.type !== 'usage') return false
    this.#reported = event.usage.completionTokens
    this.#countedAtReport = this.#counted()
    return true
  }

  #addText(text: string): void {
    this.#events += 1
    this.#received += conservativeTokens(text)
  }

  /** No event is less than a token. */
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
