import { type Fields, fieldsOf, listOf, parseJson } from '../../lib/json/json.ts'
import { isTooDeep } from '../../lib/validation/json-bounds.ts'
import type { BlockEvent, Delta, OutputBlock } from './stream-event.ts'

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
