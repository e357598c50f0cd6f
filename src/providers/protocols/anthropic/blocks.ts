import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, isObject, type Json, parseJson, textOf } from '../../../lib/json/json.ts'
import { addFragment, type CallArguments, endCall, newCallId, noArguments, onlyCounts } from '../tool-call.ts'
import { answerTool } from './response-format.ts'

/** What must be remembered of the blocks of an answer while they are read. */
export type Blocks = {
  readonly open?: OpenBlock
  /** Thoughts that go back with the next tool call. */
  readonly thoughts: readonly Json[]
  /** The ids of the tool calls that have begun. */
  readonly callIds: readonly string[]
  /** The answer came as a call of the tool for it. */
  readonly answered: boolean
  /** From a call on whose arguments are no whole JSON, because a limit cut them off or the model wrote them so. */
  readonly held: readonly GenerationEvent[]
}

/** The block that is being told: as it began, and what has come since. Text needs no remembering. */
type OpenBlock = OpenText | OpenCall

type OpenText = {
  readonly type: 'thinking' | 'answer'
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

/** Of which nothing has come. */
export const noBlocks: Blocks = { thoughts: [], callIds: [], answered: false, held: [] }

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
      return openToolUse(closed, block, events)
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
      return addInput(blocks, delta.partial_json, events)
    default:
      return blocks
  }
}

/** The blocks with the open one ended; a call ends now, if it is whole. */
export function closeBlock(blocks: Blocks, events: GenerationEvent[]): Blocks {
  const { open, ...rest } = blocks
  if (!open) return blocks
  if (open.type === 'call') return closeCall(rest, open, events)
  if (open.type === 'thinking') return { ...rest, thoughts: [...rest.thoughts, thoughtOf(open)] }
  if (open.text === '') tell('text', inputOf(open.block), events)
  return rest
}

function openToolUse(blocks: Blocks, block: Fields, events: GenerationEvent[]): Blocks {
  const name = textOf(block.name)
  if (name === undefined || (name === answerTool && blocks.answered)) return blocks
  if (name === answerTool) return opened({ ...blocks, answered: true }, 'answer', block, '')
  const id = callIdFor(blocks, textOf(block.id), name)
  const { callIds } = blocks
  events.push({ type: 'tool-call-begin', choice: 0, index: callIds.length, id, name })
  const open = { type: 'call', block, id, name, arguments: noArguments } as const
  return { ...blocks, callIds: [...callIds, id], open }
}

/** An id under which thoughts are kept must not come again in other answers. */
function callIdFor({ thoughts, callIds }: Blocks, own: string | undefined, name: string): string {
  if (own === undefined || callIds.includes(own)) return newCallId()
  return thoughts.length > 0 && onlyCounts({ id: own, name }) ? newCallId() : own
}

function addInput(blocks: Blocks, piece: unknown, events: GenerationEvent[]): Blocks {
  const { open } = blocks
  if (open?.type !== 'call') {
    if (open?.type === 'answer') tell('text', piece, events)
    return continued(blocks, 'answer', 'text', piece)
  }
  if (typeof piece !== 'string' || piece === '') return blocks
  return {
    ...blocks,
    open: { ...open, arguments: addFragment(open.arguments, piece, lastCall(blocks), events) },
  }
}

/** Calls end in the order in which they began, so behind one that is held the others are, too. */
function closeCall(blocks: Blocks, open: OpenCall, events: GenerationEvent[]): Blocks {
  const { id, name, block, arguments: known } = open
  const { thoughts, held } = blocks
  const state = thoughts.length > 0 ? { thinking_blocks: thoughts } : undefined
  const whole = known.streamed ? known.text : inputOf(block)
  const ended: GenerationEvent[] = []
  endCall({ id, name, state }, known, whole, lastCall(blocks), ended)
  const next = { ...blocks, thoughts: [] }
  if (held.length === 0 && isObject(parseJson(whole))) {
    events.push(...ended)
    return next
  }
  return { ...next, held: [...held, ...ended] }
}

/** The place of the call that began last. */
function lastCall({ callIds }: Blocks): { readonly choice: number; readonly index: number } {
  return { choice: 0, index: callIds.length - 1 }
}

/** The input that stands in the block itself: that of a whole answer. */
function inputOf({ input }: Fields): string {
  return isObject(input) ? JSON.stringify(input) : '{}'
}

/** It goes back as it came: unknown fields too, and also without any text. */
function thoughtOf({ block, text, signature }: OpenText): Json {
  const signed = signature === '' ? {} : { signature }
  return asJson({ ...block, thinking: text, ...signed })
}

function opened(blocks: Blocks, type: OpenText['type'], block: Fields, text: string): Blocks {
  return { ...blocks, open: { type, block, text, signature: '' } }
}

function continued(
  blocks: Blocks,
  type: OpenText['type'],
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
