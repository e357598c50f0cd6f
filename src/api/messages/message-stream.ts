import type { GenerationEvent } from '../../domain/generation/events.ts'
import { SequentialCalls } from '../../domain/generation/sequential-calls.ts'
import type { MeteredUsage } from '../../gateway/billing/meter.ts'
import { type Fields, fieldsOf, listOf, parseJson } from '../../lib/json/json.ts'
import { isTooDeep } from '../../lib/validation/json-bounds.ts'
import {
  addEvent,
  type BlockEvent,
  type BlockOptions,
  type Blocks,
  closeBlock,
  type Delta,
  noBlocks,
  type OutputBlock,
} from './blocks.ts'
import { renderEnd, renderStart, type ReplyMetadata } from './render.ts'

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

/** Accumulates the events of blocks into complete blocks. */
export class BlockFold {
  readonly #blocks: OutputBlock[] = []
  /** The open block, and the JSON text of its input. */
  #open: OutputBlock | undefined
  #json = ''
  /** The citations of the open block, in a list that grows in place. */
  #citations: unknown[] = []

  add(events: readonly BlockEvent[]): void {
    for (const event of events) this.#add(event)
  }

  blocks(): readonly OutputBlock[] {
    return this.#blocks
  }

  #add(event: BlockEvent): void {
    if (event.type === 'content_block_start') {
      this.#open = event.content_block
      this.#json = ''
      this.#citations = [...listOf(event.content_block.citations)]
    } else if (event.type === 'content_block_delta') this.#addDelta(event.delta)
    else if (this.#open !== undefined) {
      this.#blocks.push(this.#complete(this.#open))
      this.#open = undefined
    }
  }

  #complete(block: OutputBlock): OutputBlock {
    const cited = this.#citations.length === 0 ? block : { ...block, citations: this.#citations }
    return this.#json === '' ? cited : { ...cited, input: inputOf(this.#json) }
  }

  #addDelta(delta: Delta): void {
    if (this.#open === undefined) return
    if (delta.type === 'input_json_delta') this.#json += delta.partial_json
    else if (delta.type === 'citations_delta') this.#citations.push(delta.citation)
    else this.#open = { ...this.#open, ...changeOf(this.#open, delta) }
  }
}

type TextDelta = Exclude<Delta, { readonly type: 'input_json_delta' | 'citations_delta' }>

/** The field of the block that the delta changes. */
function changeOf(block: OutputBlock, delta: TextDelta): Fields {
  switch (delta.type) {
    case 'text_delta':
      return { text: String(block.text) + delta.text }
    case 'thinking_delta':
      return { thinking: String(block.thinking) + delta.thinking }
    case 'signature_delta':
      return { signature: delta.signature }
  }
}

/** No tool has deeper input, and the reply could not be serialized with it. */
const maxDepth = 500

/** The input of a tool is an object, also where the model was cut off or wrote something else. */
function inputOf(json: string): Fields {
  return isTooDeep(json, maxDepth) ? {} : fieldsOf(parseJson(json))
}

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
