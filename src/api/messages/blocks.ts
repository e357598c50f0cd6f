import type {
  Annotation,
  Finish,
  GenerationEvent,
  ReasoningEnd,
  TextBegin,
  ToolCallBegin,
  ToolCallDelta,
} from '../../domain/generation/events.ts'
import { sealState } from '../../domain/generation/sealed-state.ts'
import { type Fields, isObject } from '../../lib/json/json.ts'

/** How blocks are rendered. */
export type BlockOptions = {
  /** The provider of the reply, which is named in the signatures of its thinking. */
  readonly provider: string
  /** `omitted`: thinking has a signature and no text. `hidden`: there are no blocks of thinking. */
  readonly thinking: 'shown' | 'omitted' | 'hidden'
}

/** The state of a reply whose blocks are being rendered. */
export type Blocks = {
  /** The number of blocks that have begun. */
  readonly count: number
  readonly open?: OpenBlock
  readonly hasToolUse: boolean
  readonly finish?: Finish
  readonly tier?: 'default' | 'priority' | null
}

type OpenBlock = { readonly type: 'text' | 'thinking' | 'tool_use' }

/** The state before the first event. */
export const noBlocks: Blocks = { count: 0, hasToolUse: false }

/**
 * Returns the state after an event of the model, and adds the events of its blocks to `out`. The calls have to follow one
 * another, as `SequentialCalls` passes them on.
 */
export function addEvent(
  blocks: Blocks,
  event: GenerationEvent,
  options: BlockOptions,
  out: BlockEvent[],
): Blocks {
  switch (event.type) {
    case 'text-begin':
      return beginText(blocks, event, options, out)
    case 'text':
      return addDelta(blocks, emptyText, { type: 'text_delta', text: event.text }, options, out)
    case 'text-end':
      return blocks.open?.type === 'text' ? closeBlock(blocks, options, out) : blocks
    case 'annotation':
      return event.protocol === 'anthropic' ? addCitation(blocks, event, options, out) : blocks
    case 'reasoning':
      return addThinking(blocks, event.text, options, out)
    case 'reasoning-end':
      return endThinking(blocks, event, options, out)
    case 'provider-block':
      return event.protocol === 'anthropic' ? addWhole(blocks, event.block, options, out) : blocks
    case 'tool-call-begin':
      return beginCall(blocks, event, options, out)
    case 'tool-call-delta':
      return addInput(blocks, event, out)
    case 'tool-call':
      return blocks.open?.type === 'tool_use' ? closeBlock(blocks, options, out) : blocks
    case 'finish':
      return { ...blocks, finish: event }
    case 'tier':
      return { ...blocks, tier: event.tier }
    default:
      return blocks
  }
}

const emptyText = { type: 'text', text: '' } as const
const emptyThinking = { type: 'thinking', thinking: '', signature: '' } as const

/** Adds to the block of that type, which begins where it is not open. */
function addDelta(
  blocks: Blocks,
  empty: typeof emptyText | typeof emptyThinking,
  delta: Delta,
  options: BlockOptions,
  out: BlockEvent[],
): Blocks {
  const next =
    blocks.open?.type === empty.type ? blocks : openBlock(blocks, empty, { type: empty.type }, options, out)
  emit(next, delta, out)
  return next
}

function beginText(blocks: Blocks, event: TextBegin, options: BlockOptions, out: BlockEvent[]): Blocks {
  const { protocol, fields } = event.providerFields
  if (protocol !== 'anthropic') return blocks
  return openBlock(blocks, { ...emptyText, ...fields }, { type: 'text' }, options, out)
}

function addCitation(blocks: Blocks, event: Annotation, options: BlockOptions, out: BlockEvent[]): Blocks {
  return addDelta(blocks, emptyText, { type: 'citations_delta', citation: event.annotation }, options, out)
}

function addThinking(blocks: Blocks, thinking: string, options: BlockOptions, out: BlockEvent[]): Blocks {
  if (options.thinking === 'hidden') return blocks
  if (options.thinking === 'shown')
    return addDelta(blocks, emptyThinking, { type: 'thinking_delta', thinking }, options, out)
  if (blocks.open?.type === 'thinking') return blocks
  return openBlock(blocks, emptyThinking, { type: 'thinking' }, options, out)
}

function endThinking(blocks: Blocks, event: ReasoningEnd, options: BlockOptions, out: BlockEvent[]): Blocks {
  if (options.thinking === 'hidden') return blocks
  if (event.redacted !== undefined)
    return addWhole(blocks, { type: 'redacted_thinking', data: event.redacted }, options, out)
  const signature = event.signature ?? sealState({ provider: options.provider, state: event.state })
  return signThinking(blocks, signature, options, out)
}

/** Signs and ends the block of thinking that is open, or one without text. */
function signThinking(blocks: Blocks, signature: string, options: BlockOptions, out: BlockEvent[]): Blocks {
  const signed = addDelta(blocks, emptyThinking, { type: 'signature_delta', signature }, options, out)
  return stop(signed, out)
}

/** Adds a block that is complete. The input of a tool comes as a delta, as clients know it. */
function addWhole(
  blocks: Blocks,
  block: Readonly<Record<string, unknown>>,
  options: BlockOptions,
  out: BlockEvent[],
): Blocks {
  const { input } = block
  const type = String(block.type)
  const hasInput = type.endsWith('tool_use') && isObject(input)
  const opened = openBlock(
    blocks,
    { ...block, type, ...(hasInput && { input: {} }) },
    undefined,
    options,
    out,
  )
  if (hasInput) emit(opened, { type: 'input_json_delta', partial_json: JSON.stringify(input) }, out)
  return stop(opened, out)
}

function beginCall(blocks: Blocks, event: ToolCallBegin, options: BlockOptions, out: BlockEvent[]): Blocks {
  const { id, name, providerFields } = event
  const fields = providerFields?.protocol === 'anthropic' ? providerFields.fields : {}
  const block = { type: 'tool_use', id, name, input: {}, ...fields }
  const signed = addCallState(blocks, event, options, out)
  return { ...openBlock(signed, block, { type: 'tool_use' }, options, out), hasToolUse: true }
}

/** Signs thinking with the state that is received with the call: the block of the call has no field for it. */
function addCallState(
  blocks: Blocks,
  { id: callId, state }: ToolCallBegin,
  options: BlockOptions,
  out: BlockEvent[],
): Blocks {
  if (state === undefined || options.thinking === 'hidden') return blocks
  return signThinking(blocks, sealState({ provider: options.provider, state, callId }), options, out)
}

function addInput(blocks: Blocks, { arguments: text }: ToolCallDelta, out: BlockEvent[]): Blocks {
  if (blocks.open?.type === 'tool_use') emit(blocks, { type: 'input_json_delta', partial_json: text }, out)
  return blocks
}

function openBlock(
  blocks: Blocks,
  block: OutputBlock,
  open: OpenBlock | undefined,
  options: BlockOptions,
  out: BlockEvent[],
): Blocks {
  const closed = closeBlock(blocks, options, out)
  out.push({ type: 'content_block_start', index: closed.count, content_block: block })
  return { ...closed, count: closed.count + 1, open }
}

/** Ends the open block, if there is one. Thinking that ends without a state is signed, too: clients expect a signature. */
export function closeBlock(blocks: Blocks, { provider }: BlockOptions, out: BlockEvent[]): Blocks {
  const { open } = blocks
  if (open === undefined) return blocks
  if (open.type === 'thinking')
    emit(blocks, { type: 'signature_delta', signature: sealState({ provider, state: null }) }, out)
  return stop(blocks, out)
}

function stop(blocks: Blocks, out: BlockEvent[]): Blocks {
  out.push({ type: 'content_block_stop', index: blocks.count - 1 })
  return { ...blocks, open: undefined }
}

function emit({ count }: Blocks, delta: Delta, out: BlockEvent[]): void {
  out.push({ type: 'content_block_delta', index: count - 1, delta })
}

/** A block of the reply; `type` says what else it has. */
export type OutputBlock = Fields & { readonly type: string }

/** An event of a streamed block: its begin, what is added to it, and its end. Blocks never overlap. */
export type BlockEvent = BlockStart | BlockDelta | BlockStop

type BlockStart = {
  readonly type: 'content_block_start'
  readonly index: number
  readonly content_block: OutputBlock
}

type BlockDelta = {
  readonly type: 'content_block_delta'
  readonly index: number
  readonly delta: Delta
}

type BlockStop = { readonly type: 'content_block_stop'; readonly index: number }

/** An addition to the open block. */
export type Delta =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'citations_delta'; readonly citation: Fields }
  | { readonly type: 'thinking_delta'; readonly thinking: string }
  | { readonly type: 'signature_delta'; readonly signature: string }
  | { readonly type: 'input_json_delta'; readonly partial_json: string }
