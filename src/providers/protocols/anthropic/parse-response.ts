import type { FinishReason, GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, invalidData, type ProviderError } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { tellsError } from '../openai-chat/error.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { addDelta, type Blocks, closeBlock, noBlocks, openBlock } from './blocks.ts'
import { parseError } from './error.ts'
import { overlaid, parseTier, parseUsage } from './usage.ts'

/** The events of a whole message. */
export function parseResponse(body: unknown): GenerationEvent[] {
  if (!isObject(body) || tellsError(body) || !Array.isArray(body.content)) {
    return [{ type: 'failure', complaint: parseError(body) }]
  }
  const events: GenerationEvent[] = []
  const told = fieldsOf(body.usage)
  const tier = parseTier(told)
  if (tier !== undefined) events.push({ type: 'tier', tier })
  const begun = listOf(body.content).reduce(
    (blocks: typeof noBlocks, block) => openBlock(blocks, fieldsOf(block), events),
    noBlocks,
  )
  const { callIds, held } = closeBlock(begun, events)
  const usage = parseUsage(told)
  if (usage) events.push({ type: 'usage', usage })
  // A body that is whole needs no word to say so.
  const reason = finishFor(textOf(body.stop_reason) ?? 'end_turn', callIds.length > 0)
  return [...events, ...held, { type: 'finish', choice: 0, reason }]
}

/** What must be remembered between two events of a streamed message. */
export type MessageState = {
  readonly blocks: Blocks
  /** The counts as the provider told them last. */
  readonly usage: Fields
  /** The model has begun to say something. */
  readonly begun: boolean
  /** The provider's word for the end. */
  readonly stop?: string
  /** Nothing more will be told: the answer is whole, or it failed. */
  readonly over: boolean
}

/** Reads a streamed message. */
export const messageStream: StreamParser<MessageState> = {
  initial: () => ({ blocks: noBlocks, usage: {}, begun: false, over: false }),
  step: stepFor,
  end: (state) => (state.over ? [] : [incomplete]),
}

function stepFor(state: MessageState, event: SseEvent): Step<MessageState> {
  if (state.over) return { state, events: [], done: true }
  const data = parseJson(event.data)
  if (!isObject(data)) return stepOver(state, event)
  if (tellsError(data) || data.type === 'error' || event.event === 'error')
    return last(state, [failure(parseError(data))])
  return read(state, data)
}

/** Data that is no object: nothing at all, an event of a foreign kind, or one of ours that was mutilated. */
function stepOver(state: MessageState, { event, data }: SseEvent): Step<MessageState> {
  if (event === 'error') return last(state, [failure(parseError(data))])
  const foreign = event !== '' && !/^(message|content_block)_/.test(event)
  if (foreign || data.trim() === '') return { state, events: [] }
  return last(state, [failure(invalidData)])
}

function read(state: MessageState, data: Fields): Step<MessageState> {
  const events: GenerationEvent[] = []
  switch (data.type) {
    case 'content_block_delta': {
      const blocks = addDelta(state.blocks, fieldsOf(data.delta), events)
      return { state: blocks === state.blocks ? state : { ...state, blocks }, events }
    }
    case 'content_block_start': {
      const next = begin(state, events)
      const blocks = openBlock(next.blocks, fieldsOf(data.content_block), events)
      return { state: { ...next, blocks }, events }
    }
    case 'content_block_stop':
      return { state: { ...state, blocks: closeBlock(state.blocks, events) }, events }
    case 'message_start':
      return { state: { ...state, usage: overlaid(state.usage, fieldsOf(data.message).usage) }, events }
    case 'message_delta':
      return { state: readEnd(state, data, events), events }
    case 'message_stop':
      return conclude(state, events)
    default:
      return { state, events }
  }
}

/** The first counts are told with the first block: an answer that fails before it may still be asked for again. */
function begin(state: MessageState, events: GenerationEvent[]): MessageState {
  if (state.begun) return state
  const tier = parseTier(state.usage)
  if (tier !== undefined) events.push({ type: 'tier', tier })
  tellUsage(state.usage, events)
  return { ...state, begun: true }
}

function readEnd(state: MessageState, data: Fields, events: GenerationEvent[]): MessageState {
  const usage = overlaid(state.usage, data.usage)
  const stop = textOf(fieldsOf(data.delta).stop_reason) ?? state.stop
  if (stop !== undefined && state.stop === undefined) events.push({ type: 'ending', choice: 0 })
  const next = begin({ ...state, usage }, events)
  if (state.begun) tellUsage(usage, events)
  return { ...next, stop }
}

function tellUsage(told: Fields, events: GenerationEvent[]): void {
  const usage = parseUsage(told)
  if (usage) events.push({ type: 'usage', usage })
}

/** The finish, or the failure that there is none. */
function conclude(state: MessageState, events: GenerationEvent[]): Step<MessageState> {
  if (state.stop === undefined) return last(state, [incomplete])
  const { callIds, held } = closeBlock(state.blocks, events)
  const reason = finishFor(state.stop, callIds.length > 0)
  return last(state, [...events, ...held, { type: 'finish', choice: 0, reason }])
}

const incomplete = failure(endedEarly)

function failure(complaint: ProviderError): GenerationEvent {
  return { type: 'failure', complaint }
}

function last(state: MessageState, events: readonly GenerationEvent[]): Step<MessageState> {
  return { state: { ...state, over: true }, events, done: true }
}

/** The finish reason for a stop reason. A call that stands for the answer itself is no tool call. */
export function finishFor(word: string, calls: boolean): FinishReason {
  const reason = words.get(word)
  return reason ?? (calls ? 'tool_calls' : 'stop')
}

/** All others are a normal stop. */
const words: ReadonlyMap<string, FinishReason> = new Map([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'content_filter'],
])
