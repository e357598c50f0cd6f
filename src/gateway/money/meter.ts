import type { GenerationEvent } from '../../generation/events.ts'
import type { Generation } from '../../generation/request.ts'
import type { Usage } from '../../generation/usage.ts'
import { steadyClock } from '../../lib/steady-clock.ts'
import { estimatedPrompt, estimatedTokens } from './estimate.ts'
import type { ModelRoute } from '../models/model.ts'

/** Counts what a request takes while its answer passes by. */
export type Meter = {
  /** The route is asked: it is the one that answers, unless another follows. */
  asked(route: ModelRoute): void
  /** What was asked last has ended with a failure: no attempt is in flight. */
  attemptFailed(): void
  add(batch: readonly GenerationEvent[]): void
  /** How many characters the answer has until now. */
  said(): number
  /** What the provider counted, else an estimate of what has passed. */
  usage(): MeteredUsage
  route(): ModelRoute | undefined
  /** Milliseconds since the meter was made, and until the first batch. */
  elapsed(): number
  firstToken(): number | undefined
}

export type MeteredUsage = Usage & { readonly estimated: boolean }

/** No call takes more; a provider that tells more has miscounted, and is not believed. */
const mostTokens = 1_000_000_000

function believable({ promptTokens, completionTokens }: Usage): boolean {
  return promptTokens + completionTokens <= mostTokens
}

/** The sentence beside counts that no provider told. */
export const estimatedUsage = 'The provider told no usage; the token counts are estimated.'

export function createMeter(generation: Generation, now = steadyClock): Meter {
  return new CallMeter(generation, now)
}

class CallMeter implements Meter {
  readonly #generation: Generation
  readonly #now: () => number
  readonly #startedAt: number
  #route: ModelRoute | undefined
  #firstToken: number | undefined
  #told: Usage | undefined
  #finished = false
  #characters = 0
  #reasoning = 0

  constructor(generation: Generation, now: () => number) {
    this.#generation = generation
    this.#now = now
    this.#startedAt = now()
  }

  asked(route: ModelRoute): void {
    this.#route = route
  }

  attemptFailed(): void {}

  add(batch: readonly GenerationEvent[]): void {
    this.#firstToken ??= this.#now() - this.#startedAt
    for (const event of batch) this.#addEvent(event)
  }

  said(): number {
    return this.#characters + this.#reasoning
  }

  usage(): MeteredUsage {
    const told = this.#told
    const completionTokens = estimatedTokens(this.said())
    if (told && (this.#finished || told.completionTokens >= completionTokens))
      return { ...told, estimated: false }
    // Until the end, what a provider has counted of its answer is of its beginning.
    if (told) return { ...told, completionTokens, estimated: true }
    const reasoningTokens = estimatedTokens(this.#reasoning)
    const promptTokens = estimatedPrompt(this.#generation)
    return { promptTokens, completionTokens, reasoningTokens, estimated: true }
  }

  route(): ModelRoute | undefined {
    return this.#route
  }

  elapsed(): number {
    return this.#now() - this.#startedAt
  }

  firstToken(): number | undefined {
    return this.#firstToken
  }

  #addEvent(event: GenerationEvent): void {
    if (event.type === 'text') this.#characters += event.text.length
    else if (event.type === 'reasoning') this.#reasoning += event.text.length
    else if (event.type === 'usage') this.#told = believable(event.usage) ? event.usage : undefined
    else if (event.type === 'finish') this.#finished = true
    // By its fragments: a call that breaks off has been generated, too.
    else if (event.type === 'tool-call-begin') this.#characters += event.name.length
    else if (event.type === 'tool-call-delta') this.#characters += event.arguments.length
  }
}
