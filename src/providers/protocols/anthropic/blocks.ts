import { appendBlock } from '../../../domain/generation/answer.ts'
import type { GenerationEvent } from '../../../domain/generation/events.ts'
import {
  asJson,
  type Fields,
  isObject,
  type Json,
  listOf,
  parseJson,
  textOf,
} from '../../../lib/json/json.ts'
import { emitText } from '../parsing.ts'
import {
  addFragment,
  beginCall,
  type CallArguments,
  callIdFor,
  type CallPosition,
  emptyArguments,
  endCall,
} from '../tool-call.ts'
import { callBegin, emitAnnotation, emitTextBegin } from './block-events.ts'
import { outputTool } from './render-tools.ts'

/** The state of the content blocks of a response. */
export type Blocks = {
  readonly open?: OpenBlock
  /** The thinking blocks to send back with the next tool call. */
  readonly thinkingBlocks: readonly Json[]
  /** The ids of the tool calls that have begun. */
  readonly callIds: readonly string[]
  /** The output tool was called. */
  readonly hasOutput: boolean
  /**
   * The ends of calls, from the first with incomplete JSON arguments on (cut off by a limit, or written so by the
   * model).
   */
  readonly pendingEvents: readonly GenerationEvent[]
}

/** The block that is being received: its begin, and the deltas since. */
type OpenBlock = OpenText | OpenCall | typeof openPlainText

/** The text of a block is emitted as it comes. */
const openPlainText = { type: 'text' } as const

type OpenText = {
  readonly type: 'thinking' | 'output' | 'provider'
  readonly block: Fields
  readonly text: string
  readonly signature: string
}

type OpenCall = {
  readonly type: 'call'
  readonly block: Fields
  readonly id: string
  readonly name: string
  readonly arguments: CallArguments
}

/** The state before the first block. */
export const noBlocks: Blocks = { thinkingBlocks: [], callIds: [], hasOutput: false, pendingEvents: [] }

/** Returns the blocks after the begin of one. */
export function openBlock(blocks: Blocks, block: Fields, events: GenerationEvent[]): Blocks {
  const closed = closeBlock(blocks, events)
  switch (block.type) {
    case 'text':
      emitTextBegin(block, events)
      emitText('text', block.text, 0, events)
      for (const citation of listOf(block.citations)) emitAnnotation(citation, events)
      return { ...closed, open: openPlainText }
    case 'thinking':
      emitText('reasoning', block.thinking, 0, events)
      return openText(closed, 'thinking', block, textOf(block.thinking) ?? '')
    case 'redacted_thinking':
      return addThinking(closed, block, events)
    case 'tool_use':
      return openToolUse(closed, block, events)
    default:
      return textOf(block.type) === undefined ? closed : openText(closed, 'provider', block, '')
  }
}

/** Returns the blocks after a delta of the open one, or the same object where nothing changed. */
export function addDelta(blocks: Blocks, delta: Fields, events: GenerationEvent[]): Blocks {
  switch (delta.type) {
    case 'text_delta':
      emitText('text', delta.text, 0, events)
      return blocks
    case 'thinking_delta':
      emitText('reasoning', delta.thinking, 0, events)
      return appendText(blocks, 'thinking', 'text', delta.thinking)
    case 'signature_delta':
      return appendText(blocks, 'thinking', 'signature', delta.signature)
    case 'citations_delta':
      emitAnnotation(delta.citation, events)
      return blocks
    case 'input_json_delta':
      return addInput(blocks, delta.partial_json, events)
    default:
      return blocks
  }
}

/** Returns the blocks after the end of the open one; a call ends now if its arguments are complete. */
export function closeBlock(blocks: Blocks, events: GenerationEvent[]): Blocks {
  const { open, ...rest } = blocks
  if (!open) return blocks
  switch (open.type) {
    case 'text':
      events.push({ type: 'text-end', choice: 0 })
      return rest
    case 'call':
      return closeCall(rest, open, events)
    case 'thinking':
      return addThinking(rest, thinkingBlock(open), events)
    case 'provider':
      events.push({ type: 'provider-block', choice: 0, protocol: 'anthropic', block: providerBlock(open) })
      return rest
    case 'output':
      if (open.text === '') emitText('text', inputOf(open.block), 0, events)
      return rest
  }
}

/** Returns the blocks after a complete block of thinking. */
function addThinking(blocks: Blocks, block: Fields, events: GenerationEvent[]): Blocks {
  const thinking = asJson(block)
  const state = { thinking_blocks: [thinking] }
  const signature = textOf(block.signature)
  const redacted = block.type === 'redacted_thinking' ? textOf(block.data) : undefined
  events.push({
    type: 'reasoning-end',
    choice: 0,
    state,
    ...(signature !== undefined && { signature }),
    ...(redacted !== undefined && { redacted }),
  })
  return { ...blocks, thinkingBlocks: appendBlock(blocks.thinkingBlocks, thinking) }
}

/** The input of the block may have come in fragments. */
function providerBlock({ block, text }: OpenText): Fields {
  const input = text === '' ? undefined : parseJson(text)
  return input === undefined ? block : { ...block, input }
}

function openToolUse(blocks: Blocks, block: Fields, events: GenerationEvent[]): Blocks {
  const name = textOf(block.name)
  if (name === undefined || (name === outputTool && blocks.hasOutput)) return blocks
  if (name === outputTool) return openText({ ...blocks, hasOutput: true }, 'output', block, '')
  const { callIds } = blocks
  const givenId = textOf(block.id)
  const providerId = givenId !== undefined && callIds.includes(givenId) ? undefined : givenId
  const id = callIdFor(providerId, name, blocks.thinkingBlocks.length > 0)
  beginCall(callBegin(block, { choice: 0, index: callIds.length }, { id, name }, providerId), events)
  const open = { type: 'call', block, id, name, arguments: emptyArguments } as const
  return { ...blocks, callIds: [...callIds, id], open }
}

function addInput(blocks: Blocks, piece: unknown, events: GenerationEvent[]): Blocks {
  const { open } = blocks
  if (open?.type !== 'call') {
    if (open?.type === 'output') emitText('text', piece, 0, events)
    return appendText(blocks, open?.type === 'provider' ? 'provider' : 'output', 'text', piece)
  }
  if (typeof piece !== 'string' || piece === '') return blocks
  return {
    ...blocks,
    open: { ...open, arguments: addFragment(open.arguments, piece, lastCallPosition(blocks), events) },
  }
}

/** Calls end in the order in which they began, so the calls after a pending one are pending too. */
function closeCall(blocks: Blocks, open: OpenCall, events: GenerationEvent[]): Blocks {
  const { id, name, block, arguments: received } = open
  const { thinkingBlocks, pendingEvents } = blocks
  const state = thinkingBlocks.length > 0 ? { thinking_blocks: thinkingBlocks } : undefined
  const complete = received.emitted ? received.text : inputOf(block)
  const endEvents: GenerationEvent[] = []
  endCall({ id, name, state }, received, complete, lastCallPosition(blocks), endEvents)
  const next = { ...blocks, thinkingBlocks: [] }
  if (pendingEvents.length === 0 && isObject(parseJson(complete))) {
    events.push(...endEvents)
    return next
  }
  return { ...next, pendingEvents: [...pendingEvents, ...endEvents] }
}

function lastCallPosition({ callIds }: Blocks): CallPosition {
  return { choice: 0, index: callIds.length - 1 }
}

/** The input in the block itself, as in a response that was not streamed. */
function inputOf({ input }: Fields): string {
  return isObject(input) ? JSON.stringify(input) : '{}'
}

/** The block is sent back as it was received: with unknown fields, and also without text. */
function thinkingBlock({ block, text, signature }: OpenText): Fields {
  const signed = signature === '' ? {} : { signature }
  return { ...block, thinking: text, ...signed }
}

function openText(blocks: Blocks, type: OpenText['type'], block: Fields, text: string): Blocks {
  return { ...blocks, open: { type, block, text, signature: '' } }
}

function appendText(
  blocks: Blocks,
  type: OpenText['type'],
  field: 'text' | 'signature',
  piece: unknown,
): Blocks {
  const { open } = blocks
  if (open?.type !== type || typeof piece !== 'string' || piece === '') return blocks
  return { ...blocks, open: { ...open, [field]: open[field] + piece } }
}
