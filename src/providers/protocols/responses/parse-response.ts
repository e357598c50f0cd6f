import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, invalidData } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, numberOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { tellsError } from '../openai-chat/error.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { parseError } from './error.ts'
import { type AnswerState, beginning, conclude, failure, readTier } from './stream-state.ts'
import { addArguments, closeItem, type ItemPlace, openItem, type Turn } from './turn.ts'

/** The events of a whole answer: those of a stream that told nothing before its end. */
export function parseResponse(body: unknown): GenerationEvent[] {
  if (!isObject(body) || !Array.isArray(body.output)) return [failure(parseError(body))]
  return conclude(beginning, body, textOf(body.status) ?? 'completed')
}

/** Reads a streamed answer, which ends with an event that holds all of it. */
export const stream: StreamParser<AnswerState> = {
  initial: () => beginning,
  step,
  end: (state) => (state.over ? [] : [incomplete]),
}

function step(state: AnswerState, event: SseEvent): Step<AnswerState> {
  if (state.over) return { state, events: none, done: true }
  if (event.data === '[DONE]') return last(state, [incomplete])
  const data = parseJson(event.data)
  if (!isObject(data)) return stepOver(state, event)
  const type = textOf(data.type) ?? event.event
  if (type === 'error' || tellsError(data)) return last(state, [failure(parseError(data))])
  return readEvent(state, type, data)
}

function readEvent(state: AnswerState, type: string, data: Fields): Step<AnswerState> {
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

const none: readonly GenerationEvent[] = []

function unchanged(state: AnswerState): Step<AnswerState> {
  return { state, events: none }
}

function readText(state: AnswerState, text: unknown): Step<AnswerState> {
  if (typeof text !== 'string' || text === '') return unchanged(state)
  const next = state.text ? state : { ...state, text: true }
  return { state: next, events: [{ type: 'text', choice: 0, text }] }
}

/** A provider may tell the reasoning and its summary; the form that came first is the one that is told. */
function readReasoning(state: AnswerState, form: 'summary' | 'content', text: unknown): Step<AnswerState> {
  if (typeof text !== 'string' || text === '') return unchanged(state)
  if (state.reasoning !== undefined && state.reasoning !== form) return unchanged(state)
  const next = state.reasoning === form ? state : { ...state, reasoning: form }
  return { state: next, events: [{ type: 'reasoning', choice: 0, text }] }
}

type TurnStep = (turn: Turn, item: Fields, place: ItemPlace, events: GenerationEvent[]) => Turn

function readItem(state: AnswerState, { item, output_index }: Fields, step: TurnStep): Step<AnswerState> {
  const events: GenerationEvent[] = []
  const fields = fieldsOf(item)
  const place = { position: numberOf(output_index), itemId: textOf(fields.id) }
  return { state: withTurn(state, step(state.turn, fields, place, events)), events }
}

function readArguments(state: AnswerState, { delta, item_id, output_index }: Fields): Step<AnswerState> {
  const events: GenerationEvent[] = []
  const place = { position: numberOf(output_index), itemId: textOf(item_id) }
  return { state: withTurn(state, addArguments(state.turn, delta, place, events)), events }
}

function withTurn(state: AnswerState, turn: Turn): AnswerState {
  return turn === state.turn ? state : { ...state, turn }
}

function readStart(state: AnswerState, response: Fields): Step<AnswerState> {
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

function readEnd(state: AnswerState, type: string, response: Fields): Step<AnswerState> {
  return last(state, conclude(state, response, endings.get(type) ?? type))
}

/** Data that is no object: nothing at all, an event of a foreign kind, or one of ours that was mutilated. */
function stepOver(state: AnswerState, { event, data }: SseEvent): Step<AnswerState> {
  if (event === 'error') return last(state, [failure(parseError(data))])
  const ours = event === '' || event.startsWith('response.')
  if (!ours || data.trim() === '') return unchanged(state)
  return last(state, [failure(invalidData)])
}

const incomplete = failure(endedEarly)

function last(state: AnswerState, events: readonly GenerationEvent[]): Step<AnswerState> {
  return { state: { ...state, over: true }, events, done: true }
}
