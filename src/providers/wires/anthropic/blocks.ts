import type { GenerationEvent, ToolCallEvent } from '../../../generation/events.ts'
import { type Fields, type Json, isObject, parseJson, textOf } from '../../../lib/json.ts'
import { newCallId, onlyCounts } from '../call-id.ts'
import { answerTool } from './answer-tool.ts'

/** What must be remembered of the blocks of an answer while they are read. */
export type Blocks = {
  readonly open?: OpenBlock
  /** Thoughts that go back with the next tool call. */
  readonly thoughts: readonly Json[]
  /** How many tool calls there are. */
  readonly calls: number
  /** The answer came as a call of the tool for it. */
  readonly answered: boolean
  /** Calls whose arguments are no whole JSON, because a limit cut them off or the model wrote them so. */
  readonly held: readonly ToolCallEvent[]
}

/** The block that is being told: as it began, and what has come since. Text needs no remembering. */
type OpenBlock = {
  readonly type: 'thinking' | 'call' | 'answer'
  readonly block: Fields
  readonly text: string
  readonly signature: string
}

/** Of which nothing has come. */
export const noBlocks: Blocks = { thoughts: [], calls: 0, answered: false, held: [] }

/** The blocks with one more begun. */
export function openBlock(blocks: Blocks, block: Fields, events: GenerationEvent[]): Blocks {
  const closed = closeBlock(blocks, events)
  switch (block.type) {
    case 'text':
      tell('text', block.text, events)
      return closed
    case 'thinking':
      tell('reasoning', block.thinking, events)
      return opened(closed, 'thinking', block, textOf(block.thinking) ?? '')
    case 'redacted_thinking':
      return { ...closed, thoughts: [...closed.thoughts, asJson(block)] }
    case 'tool_use':
      return openCall(closed, block)
    default:
      return closed
  }
}

/** The blocks with a piece of the one that is open; the same object where nothing needs remembering. */
export function addDelta(blocks: Blocks, delta: Fields, events: GenerationEvent[]): Blocks {
  switch (delta.type) {
    case 'text_delta':
      tell('text', delta.text, events)
      return blocks
    case 'thinking_delta':
      tell('reasoning', delta.thinking, events)
      return continued(blocks, 'thinking', 'text', delta.thinking)
    case 'signature_delta':
      return continued(blocks, 'thinking', 'signature', delta.signature)
    case 'input_json_delta':
      if (blocks.open?.type !== 'answer') return continued(blocks, 'call', 'text', delta.partial_json)
      tell('text', delta.partial_json, events)
      return continued(blocks, 'answer', 'text', delta.partial_json)
    default:
      return blocks
  }
}

/** The blocks with the open one ended; a call is told now, if it is whole. */
export function closeBlock(blocks: Blocks, events: GenerationEvent[]): Blocks {
  const { open, ...rest } = blocks
  if (!open) return blocks
  if (open.type === 'thinking') return { ...rest, thoughts: [...rest.thoughts, thoughtOf(open)] }
  if (open.type === 'call') return closeCall(rest, open, events)
  if (open.text === '') tell('text', inputOf(open), events)
  return rest
}

function openCall(blocks: Blocks, block: Fields): Blocks {
  const name = textOf(block.name)
  if (name === undefined || (name === answerTool && blocks.answered)) return blocks
  return opened({ ...blocks, answered: blocks.answered || name === answerTool }, typeFor(name), block, '')
}

function typeFor(name: string): 'answer' | 'call' {
  return name === answerTool ? 'answer' : 'call'
}

function closeCall(blocks: Blocks, open: OpenBlock, events: GenerationEvent[]): Blocks {
  const event = toEvent(open, blocks.thoughts)
  const next = { ...blocks, thoughts: [], calls: blocks.calls + 1 }
  if (!isObject(parseJson(event.call.arguments))) return { ...next, held: [...next.held, event] }
  events.push(event)
  return next
}

function toEvent(open: OpenBlock, thoughts: readonly Json[]): ToolCallEvent {
  const name = textOf(open.block.name) ?? ''
  const call = { id: textOf(open.block.id) ?? newCallId(), name, arguments: inputOf(open) }
  if (thoughts.length === 0) return { type: 'tool-call', choice: 0, call }
  const id = onlyCounts(call) ? newCallId() : call.id
  return { type: 'tool-call', choice: 0, call: { ...call, id }, state: { thinking_blocks: thoughts } }
}

/** A stream tells the input in pieces, of which there are none for an empty one; a whole answer in the block. */
function inputOf({ block, text }: OpenBlock): string {
  if (text.trim() !== '') return text
  return isObject(block.input) ? JSON.stringify(block.input) : '{}'
}

/** It goes back as it came: unknown fields too, and also without any text. */
function thoughtOf({ block, text, signature }: OpenBlock): Json {
  const signed = signature === '' ? {} : { signature }
  return asJson({ ...block, thinking: text, ...signed })
}

function opened(blocks: Blocks, type: OpenBlock['type'], block: Fields, text: string): Blocks {
  return { ...blocks, open: { type, block, text, signature: '' } }
}

function continued(
  blocks: Blocks,
  type: OpenBlock['type'],
  field: 'text' | 'signature',
  piece: unknown,
): Blocks {
  const { open } = blocks
  if (open?.type !== type || typeof piece !== 'string' || piece === '') return blocks
  return { ...blocks, open: { ...open, [field]: open[field] + piece } }
}

function tell(type: 'text' | 'reasoning', text: unknown, events: GenerationEvent[]): void {
  if (typeof text === 'string' && text !== '') events.push({ type, choice: 0, text })
}

/** It came out of JSON, so JSON can say it. */
function asJson(fields: Fields): Json {
  return fields as Json
}
