import { type Fields, fieldsOf, listOf, parseJson } from '../../lib/json/json.ts'
import type { BlockEvent, Delta, OutputBlock } from './stream-event.ts'

/** Accumulates the events of blocks into complete blocks. */
export class BlockFold {
  readonly #blocks: OutputBlock[] = []
  /** The open block, and the JSON text of its input. */
  #open: OutputBlock | undefined
  #json = ''

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
    } else if (event.type === 'content_block_delta') this.#addDelta(event.delta)
    else if (this.#open !== undefined) {
      this.#blocks.push(this.#json === '' ? this.#open : { ...this.#open, input: inputOf(this.#json) })
      this.#open = undefined
    }
  }

  #addDelta(delta: Delta): void {
    if (this.#open === undefined) return
    if (delta.type === 'input_json_delta') this.#json += delta.partial_json
    else this.#open = { ...this.#open, ...changeOf(this.#open, delta) }
  }
}

/** The field of the block that the delta changes. */
function changeOf(block: OutputBlock, delta: Exclude<Delta, { readonly type: 'input_json_delta' }>): Fields {
  switch (delta.type) {
    case 'text_delta':
      return { text: String(block.text) + delta.text }
    case 'thinking_delta':
      return { thinking: String(block.thinking) + delta.thinking }
    case 'signature_delta':
      return { signature: delta.signature }
    case 'citations_delta':
      return { citations: [...listOf(block.citations), delta.citation] }
  }
}

/** The input of a tool is an object, also where the model was cut off or wrote something else. */
function inputOf(json: string): Fields {
  return fieldsOf(parseJson(json))
}
