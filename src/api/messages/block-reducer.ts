import type { GenerationEvent } from '../../domain/generation/events.ts'
import { SequentialCalls } from '../../domain/generation/sequential-calls.ts'
import { addEvent, type BlockOptions, type Blocks, closeBlock, noBlocks } from './blocks.ts'
import type { BlockEvent } from './stream-event.ts'

/** Reduces the events of a model to the events of the blocks of a message. */
export class BlockReducer {
  readonly #options: BlockOptions
  readonly #sequence = new SequentialCalls()
  #blocks: Blocks = noBlocks

  constructor(options: BlockOptions) {
    this.#options = options
  }

  /** The state after the events so far. */
  get blocks(): Blocks {
    return this.#blocks
  }

  add(batch: readonly GenerationEvent[]): readonly BlockEvent[] {
    const out: BlockEvent[] = []
    for (const event of batch) this.#add(this.#sequence.next(event), out)
    return out
  }

  /** Ends the block that is open; calls without an end were cut off. */
  end(): readonly BlockEvent[] {
    const out: BlockEvent[] = []
    this.#add(this.#sequence.release(), out)
    this.#blocks = closeBlock(this.#blocks, this.#options, out)
    return out
  }

  #add(events: readonly GenerationEvent[], out: BlockEvent[]): void {
    let blocks = this.#blocks
    for (const event of events) blocks = addEvent(blocks, event, this.#options, out)
    this.#blocks = blocks
  }
}
