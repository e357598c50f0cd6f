import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { MeteredRequest } from './clamp-usage.ts'
import { cautiousTokens } from './conservative-tokens.ts'

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
  #unseenSince: number | undefined
  #events = 0
  #seen = 0
  #unseen = 0
  /** What the provider counted last, and what this counted then. */
  #told = 0
  #countedWhenTold = 0

  constructor({ generation, model, stream }: MeteredRequest, now: () => number) {
    this.#now = now
    this.#stream = stream
    this.#reasons = model.reasoning !== undefined
    this.#tokensPerMillisecond = (tokensPerSecond * (generation.choices ?? 1)) / 1000
  }

  /** A provider accepts a stream with its headers; all else is generated before anything comes. */
  sent(): void {
    if (this.#reasons || !this.#stream) this.#unseenSince = this.#now()
  }

  accepted(): void {
    this.#unseenSince ??= this.#now()
  }

  failed(): void {
    this.#unseenSince = undefined
  }

  held(): void {
    this.#unseenSince ??= this.#now()
  }

  add(batch: readonly GenerationEvent[]): void {
    // A whole answer comes with its end, and is never unfinished.
    if (!this.#stream) return
    const before = this.#seenTokens()
    let told = false
    for (const event of batch) told = this.#addEvent(event) || told
    const seen = this.#seenTokens() - before
    if (this.#unseenSince === undefined || seen === 0) return
    const unseen = this.#endSilence(this.#unseenSince, before > 0, seen)
    // What the provider has counted holds the time before.
    if (told) this.#countedWhenTold += unseen
  }

  /** Up to now; not a whole number. */
  tokens(): number {
    const unseen = this.#unseenUntil(this.#now())
    const counted = this.#counted()
    return Math.max(counted, this.#told + counted - this.#countedWhenTold) + unseen
  }

  /** Adds what was not seen since then, and gives it. */
  #endSilence(since: number, begun: boolean, seen: number): number {
    const now = this.#now()
    // What is seen was itself generated in that time, but for the few tokens that come behind a silence.
    const flows = begun && now - since < silenceMs
    const unseen = Math.max(0, this.#unseenUntil(now) - (flows ? seen : 0))
    this.#unseen += unseen
    this.#unseenSince = this.#reasons ? now : undefined
    return unseen
  }

  /** True for the counts of the provider. */
  #addEvent(event: GenerationEvent): boolean {
    if (event.type === 'text' || event.type === 'reasoning') this.#addText(event.text)
    // By its fragments: a call that breaks off was generated, too.
    else if (event.type === 'tool-call-begin') this.#addText(event.name)
    else if (event.type === 'tool-call-delta') this.#addText(event.arguments)
    if (event.type !== 'usage') return false
    this.#told = event.usage.completionTokens
    this.#countedWhenTold = this.#counted()
    return true
  }

  #addText(text: string): void {
    this.#events += 1
    this.#seen += cautiousTokens(text)
  }

  /** No event is less than a token. */
  #seenTokens(): number {
    return Math.max(this.#events, this.#seen)
  }

  #counted(): number {
    return this.#seenTokens() + this.#unseen
  }

  #unseenUntil(now: number): number {
    return this.#unseenSince === undefined ? 0 : (now - this.#unseenSince) * this.#tokensPerMillisecond
  }
}
