import type { Fields } from '../../lib/json/json.ts'

/** A block of the reply; `type` says what else it has. */
export type OutputBlock = Fields & { readonly type: string }

/** An event of a streamed block: its begin, what is added to it, and its end. Blocks never overlap. */
export type BlockEvent = BlockStart | BlockDelta | BlockStop

export type BlockStart = {
  readonly type: 'content_block_start'
  readonly index: number
  readonly content_block: OutputBlock
}

export type BlockDelta = {
  readonly type: 'content_block_delta'
  readonly index: number
  readonly delta: Delta
}

export type BlockStop = { readonly type: 'content_block_stop'; readonly index: number }

/** What is added to the open block. */
export type Delta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'citations_delta'; readonly citation: Fields }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
