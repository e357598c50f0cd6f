import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, invalidData, type ProviderError } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import type { Step, StreamParser } from '../protocol.ts'
import {
  addFinish,
  addMessage,
  type Choice,
  choiceNumber,
  emptyChoice,
  endCalls,
  readContent,
  toFinish,
} from './choice.ts'
import type { Dialect } from './dialect.ts'
import { parseError, tellsError } from './error.ts'
import { complaintIn } from './finish.ts'
import { parseTier, parseUsage } from './usage.ts'

/** The events of a whole chat completion. */
export function parseResponse(dialect: Dialect, body: unknown): GenerationEvent[] {
  if (!isObject(body) || tellsError(body) || listOf(body.choices).length === 0) {
    return [{ type: 'failure', complaint: parseError(body) }]
  }
  const events: GenerationEvent[] = []
  const finishes: GenerationEvent[] = []
  const tier = textOf(body.service_tier)
  if (tier !== undefined) events.push({ type: 'tier', tier: parseTier(tier) })
  for (const item of listOf(body.choices)) {
    const entry = fieldsOf(item)
    const complaint = complaintIn(entry)
    if (complaint) return [...events, { type: 'failure', complaint }]
    finishes.push(readCompleteChoice(dialect, entry, events))
  }
  const usage = parseUsage(body)
  return [...events, ...(usage ? [{ type: 'usage', usage } as const] : []), ...finishes]
}

/** Adds what the choice says; its finish comes back. A body that is whole needs no word to say so. */
function readCompleteChoice(dialect: Dialect, entry: Fields, events: GenerationEvent[]): GenerationEvent {
  const number = choiceNumber(entry.index)
  const message = fieldsOf(entry.message)
  const word = textOf(entry.finish_reason) ?? 'stop'
  readContent(message, number, events)
  const choice = addFinish(addMessage(emptyChoice, number, message, dialect, events), word)
  endCalls(choice, number, dialect, events)
  return toFinish(choice, number, word)
}

/** What must be remembered between two chunks of a streamed answer. */
export type AnswerState = {
  /** By the number of the choice. */
  readonly choices: readonly (Choice | undefined)[]
  readonly tier?: string
  /** Nothing more will be told: the answer is whole, or it failed. */
  readonly over: boolean
}

/** Reads a streamed chat completion. */
export function streamParser(dialect: Dialect): StreamParser<AnswerState> {
  return {
    initial: () => ({ choices: [], over: false }),
    step: (state, event) => stepFor(dialect, state, event),
    end: (state) => (state.over ? [] : conclude(dialect, state, false)),
  }
}

function stepFor(dialect: Dialect, state: AnswerState, event: SseEvent): Step<AnswerState> {
  if (state.over) return { state, events: [], done: true }
  if (event.data === '[DONE]') return last(state, conclude(dialect, state, true))
  const chunk = parseJson(event.data)
  if (!isObject(chunk)) return stepOver(state, event)
  if (tellsError(chunk) || event.event === 'error')
    return last(state, [...usageIn(chunk), failure(parseError(chunk))])
  return readChunk(dialect, state, chunk)
}

/** Data that is no object: nothing at all, an event of a foreign kind, or a chunk that was mutilated. */
function stepOver(state: AnswerState, { event, data }: SseEvent): Step<AnswerState> {
  if (event === 'error') return last(state, [failure(parseError(data))])
  if (event !== '' || data.trim() === '') return { state, events: [] }
  return last(state, [failure(invalidData)])
}

function readChunk(dialect: Dialect, state: AnswerState, chunk: Fields): Step<AnswerState> {
  const events: GenerationEvent[] = []
  let next = state
  if (typeof chunk.service_tier === 'string') next = readTier(next, chunk.service_tier, events)
  for (const item of listOf(chunk.choices)) {
    const entry = fieldsOf(item)
    const complaint = complaintIn(entry)
    if (complaint) return last(next, [...events, ...usageIn(chunk), failure(complaint)])
    next = readChoice(dialect, next, entry, events)
  }
  events.push(...usageIn(chunk))
  return { state: next, events }
}

function usageIn(chunk: Fields): readonly GenerationEvent[] {
  const usage = parseUsage(chunk)
  return usage ? [{ type: 'usage', usage }] : none
}

const none: readonly GenerationEvent[] = []

/** Every chunk repeats the tier; it is told when it is new. */
function readTier(state: AnswerState, word: string, events: GenerationEvent[]): AnswerState {
  if (word === '' || word === state.tier) return state
  events.push({ type: 'tier', tier: parseTier(word) })
  return { ...state, tier: word }
}

function readChoice(
  dialect: Dialect,
  state: AnswerState,
  entry: Fields,
  events: GenerationEvent[],
): AnswerState {
  const number = choiceNumber(entry.index)
  const known = state.choices[number]
  const delta = fieldsOf(entry.delta)
  readContent(delta, number, events)
  const said = addMessage(known ?? emptyChoice, number, delta, dialect, events)
  const choice = endCalls(addFinish(said, entry.finish_reason), number, dialect, events)
  if (choice.finish !== undefined && known?.finish === undefined)
    events.push({ type: 'ending', choice: number })
  return choice === known ? state : withChoice(state, number, choice)
}

function withChoice(state: AnswerState, number: number, choice: Choice): AnswerState {
  const choices = state.choices.slice()
  choices[number] = choice
  return { ...state, choices }
}

/** The finish of every choice, or the failure that one of them has none. */
function conclude(dialect: Dialect, state: AnswerState, done: boolean): GenerationEvent[] {
  const events: GenerationEvent[] = []
  const finishes: GenerationEvent[] = []
  for (const [number, choice] of state.choices.entries()) {
    if (!choice) continue
    const word = choice.finish ?? (done && dialect.unnamedFinish ? 'stop' : undefined)
    if (word === undefined) return [incomplete]
    endCalls({ ...choice, finish: word }, number, dialect, events)
    finishes.push(toFinish(choice, number, word))
  }
  return finishes.length === 0 ? [incomplete] : [...events, ...finishes]
}

const incomplete = failure(endedEarly)

function failure(complaint: ProviderError): GenerationEvent {
  return { type: 'failure', complaint }
}

function last(state: AnswerState, events: readonly GenerationEvent[]): Step<AnswerState> {
  return { state: { ...state, over: true }, events, done: true }
}
