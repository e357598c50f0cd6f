import type { GenerationEvent } from '../generation/events.ts'
import { clientGone } from '../lib/errors.ts'
import type { Source } from '../lib/source.ts'
import type { Ending } from './ending.ts'
import type { Meter } from './money/meter.ts'
import { unavailable } from './upstream/failure.ts'

type Batch = readonly GenerationEvent[]

/** Stores what the provider wants back; undefined where there is nothing to wait for. */
export type Keep = (batch: Batch) => Promise<void> | undefined

/** In characters. What goes on after them is no answer of a model, and would fill the memory of who keeps it. */
const longestAnswer = 16 * 1024 * 1024

/**
 * Counts each batch, and stores what the provider wants back before the caller sees its call. The end comes after
 * the books have it: what a reply promises is on disk. Closing it is leaving.
 */
export class DeliveredAnswer implements Source<Batch> {
  readonly #meter: Meter
  readonly #rest: Source<Batch>
  readonly #keep: Keep
  readonly #ending: Ending
  /** Until it is taken. */
  #first: Promise<Batch | undefined> | undefined

  constructor(
    first: Promise<Batch | undefined>,
    rest: Source<Batch>,
    keep: Keep,
    { meter, ending }: { readonly meter: Meter; readonly ending: Ending },
  ) {
    this.#first = first
    this.#rest = rest
    this.#keep = keep
    this.#meter = meter
    this.#ending = ending
  }

  async next(): Promise<Batch | undefined> {
    try {
      const batch = await (this.#first ?? this.#rest.next())
      this.#first = undefined
      if (batch === undefined) {
        await this.#ending.over()
        return undefined
      }
      this.#meter.add(batch)
      if (this.#meter.said() > longestAnswer) throw endless(this.#meter)
      const kept = this.#keep(batch)
      if (kept) await kept
      return batch
    } catch (error) {
      this.#rest.close()
      await this.#ending.over(error)
      throw error
    }
  }

  close(): void {
    // Its promise is also that of the call itself, which tells where the row could not be written.
    this.#ending.over(clientGone()).catch(() => {})
    this.#rest.close()
  }
}

function endless(meter: Meter): Error {
  return unavailable(meter.route()?.provider.name ?? '', 'its answer does not end')
}
