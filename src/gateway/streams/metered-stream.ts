import type { GenerationEvent } from '../../domain/generation/events.ts'
import { clientGone } from '../../lib/errors/errors.ts'
import type { PushStream, OnItem } from '../../lib/push-stream.ts'
import type { Call } from '../call.ts'
import type { GenerationStream } from '../gateway.ts'
import type { MeteredUsage } from '../billing/meter.ts'
import type { Nanos } from '../billing/price.ts'
import type { ProviderStates } from '../provider-states.ts'
import { unavailable } from '../upstream/upstream-error.ts'

type Batch = readonly GenerationEvent[]

/** An answer that a provider has begun. */
export type OpenedStream = Pick<GenerationStream, 'provider' | 'warnings'> & {
  readonly first: Promise<Batch | undefined>
  readonly rest: PushStream<Batch>
}

/** In characters. What goes on after them is no answer of a model, and would fill the memory of who keeps it. */
const longestAnswer = 16 * 1024 * 1024

/**
 * Counts each batch, and stores what the provider wants back before the caller sees its call. The end comes after
 * the books have it: what a reply promises is on disk. Closing it is leaving.
 */
export class MeteredStream implements GenerationStream {
  readonly provider: string
  readonly warnings: readonly string[]
  readonly #call: Call
  readonly #states: ProviderStates
  /** Until it is taken. */
  #first: Promise<Batch | undefined> | undefined
  readonly #rest: PushStream<Batch>
  #closed = false

  constructor(call: Call, states: ProviderStates, opened: OpenedStream) {
    this.provider = opened.provider
    this.warnings = opened.warnings
    this.#call = call
    this.#states = states
    this.#first = opened.first
    this.#rest = opened.rest
  }

  async each(take: OnItem<Batch>): Promise<void> {
    try {
      const first = await this.#first
      this.#first = undefined
      if (first) await this.#give(first, take)
      await this.#rest.each((batch) => this.#give(batch, take))
      const left = this.#call.leaving()
      // Given up behind its last word, it is in the books as that, and what was to be kept of it is not.
      if (this.#call.stop.aborted && !this.#closed) throw this.#call.stop.reason
      await this.#call.over(left)
      if (left && !this.#closed) throw left
    } catch (error) {
      this.#rest.close()
      await this.#call.over(this.#call.leaving() ?? error)
      throw error
    }
  }

  close(): void {
    this.#closed = true
    if (!this.#call.ended()) this.#call.leave(clientGone())
    // Who has left waits for nothing more, but the books for the usage.
    if (!this.#call.leaving() || this.#call.ended()) this.#rest.close()
  }

  usage(): MeteredUsage {
    return this.#call.usage()
  }

  cost(): Nanos | undefined {
    return this.#call.cost()
  }

  #give(batch: Batch, take: OnItem<Batch>): ReturnType<OnItem<Batch>> {
    const { meter, question } = this.#call
    meter.add(batch)
    if (this.#call.leaving()) return this.#readOn()
    if (meter.outputLength() > longestAnswer) throw unavailable(this.provider, 'its answer does not end')
    const kept = this.#states.keep(question.facts.organization, this.provider, batch)
    const taken = kept ? kept.then(() => take(batch)) : take(batch)
    if (taken) meter.paused()
    return taken
  }

  /** For nobody but the books, and no further than to the usage. */
  #readOn(): void {
    const { meter } = this.#call
    if (!meter.awaitsUsage()) this.#call.cut(this.#call.leaving())
  }
}
