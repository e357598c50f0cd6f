import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, numberOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { hasError } from '../error.ts'
import { failure, finishWith, incomplete, noEvents, stepInvalid } from '../parsing.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { conclude, initialState, parseError, readTier, type StreamState } from './stream-state.ts'
import { addArguments, closeItem, type ItemPosition, openItem, type Turn } from './turn.ts'

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
      return state.reasoning === 'summary' ? readReasoning(state, 'summary', '\n\n') : unchanged(state)
    case 'response.output_item.added':
      return readItem(state, data, openItem)
    case 'response.output_item.done':
      return readItem(state, data, closeItem)
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

type TurnStep = (turn: Turn, item: Fields, position: ItemPosition, events: GenerationEvent[]) => Turn

function readItem(state: StreamState, { item, output_index }: Fields, step: TurnStep): Step<StreamState> {
  const events: GenerationEvent[] = []
  const fields = fieldsOf(item)
  const position = { outputIndex: numberOf(output_index), itemId: textOf(fields.id) }
  return { state: withTurn(state, step(state.turn, fields, position, events)), events }
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
