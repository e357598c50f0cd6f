import type { GenerationEvent, ServedTier } from '../../../domain/generation/events.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  numberOf,
  parseJson,
  textOf,
} from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { type Cited, emitAnnotations } from '../citations.ts'
import { hasError } from '../error.ts'
import {
  emitTier,
  emitUsage,
  failure,
  finishWith,
  incomplete,
  noEvents,
  parseTier,
  stepInvalid,
} from '../parsing.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { parseError, parseUsage } from './metadata.ts'
import { annotationsIn, paragraphEnd, reasoningTextsOf, textsIn } from './output-items.ts'
import { addArguments, closeItem, emptyTurn, type ItemPosition, openItem, type Turn } from './turn.ts'

/** The events of a response that was not streamed: those at the end of a stream without deltas. */
export function parseResponse(body: unknown): GenerationEvent[] {
  if (!isObject(body) || !Array.isArray(body.output)) return [failure(parseError(body))]
  return conclude(initialState, body, textOf(body.status) ?? 'completed')
}

/** The parser of a stream, whose last event contains the complete response. */
export const streamParser: StreamParser<StreamState> = {
  initial: () => initialState,
  step,
  end: (state) => (state.finished ? [] : [incomplete]),
}

/** The names of the events of the Responses API, and events without one. */
const ownEvents = /^$|^response\./

function step(state: StreamState, event: SseEvent): Step<StreamState> {
  if (state.finished) return { state, events: noEvents, done: true }
  if (event.data === '[DONE]') return finishWith(state, [incomplete])
  const data = parseJson(event.data)
  if (!isObject(data)) return stepInvalid(state, event, parseError, ownEvents)
  const type = textOf(data.type) ?? event.event
  if (type === 'error' || hasError(data)) return finishWith(state, [failure(parseError(data))])
  return readEvent(state, type, data)
}

function readEvent(state: StreamState, type: string, data: Fields): Step<StreamState> {
  switch (type) {
    case 'response.output_text.delta':
    case 'response.refusal.delta':
      return readText(state, data.delta)
    case 'response.reasoning_summary_text.delta':
      return readReasoning(state, 'summary', data.delta)
    case 'response.reasoning_text.delta':
    case 'response.reasoning.delta':
      return readReasoning(state, 'content', data.delta)
    case 'response.reasoning_summary_part.added':
      return state.reasoning === 'summary' ? readReasoning(state, 'summary', paragraphEnd) : unchanged(state)
    case 'response.output_item.added':
      return readItem(state, data, openItem)
    case 'response.output_text.annotation.added':
      return readAnnotations(state, [data.annotation])
    case 'response.output_item.done':
      return readEndOfItem(state, data)
    case 'response.function_call_arguments.delta':
      return readArguments(state, data)
    case 'response.created':
    case 'response.in_progress':
      return readStart(state, fieldsOf(data.response))
    default:
      return endings.has(type) ? readEnd(state, type, fieldsOf(data.response)) : unchanged(state)
  }
}

function unchanged(state: StreamState): Step<StreamState> {
  return { state, events: noEvents }
}

function readText(state: StreamState, text: unknown): Step<StreamState> {
  if (typeof text !== 'string' || text === '') return unchanged(state)
  const next = state.hasText ? state : { ...state, hasText: true }
  return { state: next, events: [{ type: 'text', choice: 0, text }] }
}

/** A provider may send both reasoning and its summary; only the form that is received first is emitted. */
function readReasoning(state: StreamState, form: 'summary' | 'content', text: unknown): Step<StreamState> {
  if (typeof text !== 'string' || text === '') return unchanged(state)
  if (state.reasoning !== undefined && state.reasoning !== form) return unchanged(state)
  const next = state.reasoning === form ? state : { ...state, reasoning: form }
  return { state: next, events: [{ type: 'reasoning', choice: 0, text }] }
}

function readAnnotations(state: StreamState, annotations: readonly unknown[]): Step<StreamState> {
  const events: GenerationEvent[] = []
  return { state: withCitations(state, annotations, events), events }
}

/** The state after these annotations, of which those that cite a page are emitted once. */
function withCitations(
  state: StreamState,
  annotations: readonly unknown[],
  events: GenerationEvent[],
): StreamState {
  if (annotations.length === 0) return state
  const cited = emitAnnotations(annotations, (annotation) => annotation, state.cited, 0, events)
  return cited === state.cited ? state : { ...state, cited }
}

type TurnStep = (turn: Turn, item: Fields, position: ItemPosition, events: GenerationEvent[]) => Turn

function readItem(state: StreamState, { item, output_index }: Fields, step: TurnStep): Step<StreamState> {
  const events: GenerationEvent[] = []
  const fields = fieldsOf(item)
  const position = { outputIndex: numberOf(output_index), itemId: textOf(fields.id) }
  return { state: withTurn(state, step(state.turn, fields, position, events)), events }
}

/** The events of the annotations are optional: the complete message has all of them. */
function readEndOfItem(state: StreamState, data: Fields): Step<StreamState> {
  const cited = readAnnotations(state, annotationsIn(fieldsOf(data.item)))
  const ended = readItem(cited.state, data, closeItem)
  return { ...ended, events: [...cited.events, ...ended.events] }
}

function readArguments(state: StreamState, { delta, item_id, output_index }: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  const position = { outputIndex: numberOf(output_index), itemId: textOf(item_id) }
  return { state: withTurn(state, addArguments(state.turn, delta, position, events)), events }
}

function withTurn(state: StreamState, turn: Turn): StreamState {
  return turn === state.turn ? state : { ...state, turn }
}

function readStart(state: StreamState, response: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  return { state: readTier(state, response, events), events }
}

const endings = new Map([
  ['response.completed', 'completed'],
  ['response.done', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
  ['response.cancelled', 'cancelled'],
])

function readEnd(state: StreamState, type: string, response: Fields): Step<StreamState> {
  return finishWith(state, conclude(state, response, endings.get(type) ?? type))
}

/** The state between two events of a stream. */
export type StreamState = {
  /** True once text was emitted. */
  readonly hasText: boolean
  /** The form of the reasoning that is emitted. */
  readonly reasoning?: 'summary' | 'content'
  readonly turn: Turn
  readonly tier?: ServedTier
  readonly cited?: Cited
  /** The response is complete or has failed: no further events are emitted. */
  readonly finished: boolean
}

const initialState: StreamState = { hasText: false, turn: emptyTurn, finished: false }

/** The last events of a response: output that was not streamed, usage, and the `finish` or `failure`. */
function conclude(state: StreamState, response: Fields, defaultStatus: string): GenerationEvent[] {
  const status = endStatuses.has(response.status) ? String(response.status) : defaultStatus
  const events: GenerationEvent[] = []
  const { turn } = emitMissing(state, listOf(response.output), events)
  readTier(state, response, events)
  emitUsage(parseUsage(response), events)
  events.push(endOf(response, status, turn.endedCalls > 0))
  return events
}

/** `auto` is only the requested tier, not the one that serves the response. */
function readTier(
  state: StreamState,
  { service_tier: tier }: Fields,
  events: GenerationEvent[],
): StreamState {
  return tier === 'auto' ? state : emitTier(state, parseTier(tier), events)
}

/** The final statuses of a response. */
const endStatuses = new Set<unknown>(['completed', 'incomplete', 'failed', 'cancelled'])

/** Emits, item by item, the output for which no deltas were received: some engines send none. */
function emitMissing(state: StreamState, output: readonly unknown[], events: GenerationEvent[]): StreamState {
  const { callIds, open, endedCalls, reasoning } = state.turn
  const reasoningTexts = state.reasoning === undefined ? reasoningTextsOf(output) : []
  let current = state
  let turn: Turn = { ...emptyTurn, callIds, open }
  for (const [outputIndex, value] of output.entries()) {
    const item = fieldsOf(value)
    events.push(...reasoningEvents(reasoningTexts[outputIndex]))
    if (!state.hasText) for (const text of textsIn(item)) events.push({ type: 'text', choice: 0, text })
    current = withCitations(current, annotationsIn(item), events)
    if (endedCalls > 0) continue
    const hasEnded = item.type === 'reasoning' && reasoning.length > 0
    turn = closeItem(turn, item, { outputIndex, itemId: textOf(item.id) }, hasEnded ? [] : events)
  }
  return endedCalls > 0 ? state : { ...state, turn }
}

function reasoningEvents(text: string | undefined): GenerationEvent[] {
  return text === undefined ? [] : [{ type: 'reasoning', choice: 0, text }]
}

/** The `finish` or `failure` of a response with this status. */
function endOf(response: Fields, status: string, hasToolCalls: boolean): GenerationEvent {
  if (hasError(response) || status === 'failed') return failure(parseError(response))
  if (status === 'completed')
    return { type: 'finish', choice: 0, reason: hasToolCalls ? 'tool_calls' : 'stop' }
  if (status === 'incomplete') return incompleteEnd(textOf(fieldsOf(response.incomplete_details).reason))
  return incomplete
}

function incompleteEnd(reason: string = 'max_output_tokens'): GenerationEvent {
  if (/token|length/.test(reason)) return { type: 'finish', choice: 0, reason: 'length' }
  if (/filter|safety/.test(reason)) return { type: 'finish', choice: 0, reason: 'content_filter' }
  return incomplete
}
