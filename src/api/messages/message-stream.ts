import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { Fields } from '../../lib/json/json.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import { BlockReducer } from './block-reducer.ts'
import type { BlockOptions } from './blocks.ts'
import { type ReplyMetadata, renderEnd, renderStart } from './render.ts'
import type { BlockEvent } from './stream-event.ts'

/** The frame that keeps an idle stream open. */
export const pingFrame = 'event: ping\ndata: {"type":"ping"}\n\n'

/** Renders the frames of one streamed message. */
export class MessageStream {
  readonly #metadata: ReplyMetadata
  readonly #reducer: BlockReducer
  readonly #usage: () => MeteredUsage
  #started = false
  #pinged = false

  /** `usage` returns the usage up to now. */
  constructor(metadata: ReplyMetadata, options: BlockOptions, usage: () => MeteredUsage) {
    this.#metadata = metadata
    this.#reducer = new BlockReducer(options)
    this.#usage = usage
  }

  /** The frames of a batch. The first batch begins the message: it may have the tokens of the prompt. */
  frames(batch: readonly GenerationEvent[]): string {
    const events = this.#reducer.add(batch)
    return this.#start() + this.#render(events)
  }

  /** The frames after the last batch. */
  end(): string {
    const events = this.#reducer.end()
    const text = this.#start() + this.#render(events)
    return text + frame(renderEnd(this.#usage(), this.#reducer.blocks)) + frame({ type: 'message_stop' })
  }

  #start(): string {
    if (this.#started) return ''
    this.#started = true
    const message = renderStart(this.#metadata, this.#usage(), this.#reducer.blocks)
    return frame({ type: 'message_start', message })
  }

  #render(events: readonly BlockEvent[]): string {
    let text = ''
    for (const event of events) {
      text += frame(event)
      if (this.#pinged) continue
      this.#pinged = true
      text += pingFrame
    }
    return text
  }
}

function frame(event: Fields & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
