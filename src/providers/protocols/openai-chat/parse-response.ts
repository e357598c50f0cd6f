import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, invalidData, type ProviderError } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import type { Step, StreamParser } from '../protocol.ts'
import {
  addFinish,
  addMessage,
  type Choice,
  choiceIndex,
  emptyChoice,
  endCalls,
  readContent,
  toFinish,
} from './choice.ts'
import type { Dialect } from './dialect.ts'
import { parseError, hasError } from './error.ts'
import { choiceError } from './finish.ts'
import { logprobsEvents } from './logprobs.ts'
import { parseTier, parseUsage } from './usage.ts'

/** The events of a chat completion that was not streamed. */
export function parseResponse(dialect: Dialect, body: unknown): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || listOf(body.choices).length === 0) {
    return [failure(parseError(body))]
  }
  const events: GenerationEvent[] = []
  const finishes: GenerationEvent[] = []
  const tier = textOf(body.service_tier)
  if (tier !== undefined) events.push({ type: 'tier', tier: parseTier(tier) })
  for (const item of listOf(body.choices)) {
    const entry = fieldsOf(item)
    const error = choiceError(entry)
    if (error) return [...events, failure(error)]
    finishes.push(readCompleteChoice(dialect, entry, events))
  }
  const usage = parseUsage(body)
  if (usage) events.push({ type: 'usage', usage })
  events.push(...finishes)
  return events
}

/** Emits the content of a choice and returns its `finish`. A complete body needs no finish reason. */
function readCompleteChoice(dialect: Dialect, entry: Fields, events: GenerationEvent[]): GenerationEvent {
  const index = choiceIndex(entry.index)
  const message = fieldsOf(entry.message)
  const reason = textOf(entry.finish_reason) ?? 'stop'
  readContent(message, index, events)
  events.push(...logprobsEvents(entry, index))
  const choice = addFinish(addMessage(emptyChoice, index, message, dialect, events), reason)
  endCalls(choice, index, dialect, events)
  return toFinish(choice, index, reason)
}

/** The state between two chunks of a stream. */
export type StreamState = {
  /** By the index of the choice. */
  readonly choices: readonly (Choice | undefined)[]
  readonly tier?: string
  /** The response is complete or has failed: no further events are emitted. */
  readonly finished: boolean
}

/** The parser of a streamed chat completion. */
export function streamParser(dialect: Dialect): StreamParser<StreamState> {
  return {
    initial: () => ({ choices: [], finished: false }),
    step: (state, event) => step(dialect, state, event),
    end: (state) => (state.finished ? [] : conclude(dialect, state, false)),
  }
}

function step(dialect: Dialect, state: StreamState, event: SseEvent): Step<StreamState> {
  if (state.finished) return { state, events: [], done: true }
  if (event.data === '[DONE]') return finishWith(state, conclude(dialect, state, true))
  const chunk = parseJson(event.data)
  if (!isObject(chunk)) return stepInvalid(state, event)
  if (hasError(chunk) || event.event === 'error')
    return finishWith(state, [...usageIn(chunk), failure(parseError(chunk))])
  return readChunk(dialect, state, chunk)
}

/** Data that is not an object: empty data and events of unknown types are ignored, a broken chunk is a failure. */
function stepInvalid(state: StreamState, { event, data }: SseEvent): Step<StreamState> {
  if (event === 'error') return finishWith(state, [failure(parseError(data))])
  if (event !== '' || data.trim() === '') return { state, events: [] }
  return finishWith(state, [failure(invalidData)])
}

function readChunk(dialect: Dialect, state: StreamState, chunk: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  let next = state
  if (typeof chunk.service_tier === 'string') next = readTier(next, chunk.service_tier, events)
  for (const item of listOf(chunk.choices)) {
    const entry = fieldsOf(item)
    const error = choiceError(entry)
    if (error) return finishWith(next, [...events, ...usageIn(chunk), failure(error)])
    next = readChoice(dialect, next, entry, events)
  }
  events.push(...usageIn(chunk))
  return { state: next, events }
}

function usageIn(chunk: Fields): readonly GenerationEvent[] {
  const usage = parseUsage(chunk)
  return usage ? [{ type: 'usage', usage }] : noEvents
}

const noEvents: readonly GenerationEvent[] = []

/** Every chunk repeats the service tier; it is emitted only when it changes. */
function readTier(state: StreamState, reason: string, events: GenerationEvent[]): StreamState {
  if (reason === '' || reason === state.tier) return state
  events.push({ type: 'tier', tier: parseTier(reason) })
  return { ...state, tier: reason }
}

function readChoice(
  dialect: Dialect,
  state: StreamState,
  entry: Fields,
  events: GenerationEvent[],
): StreamState {
  const index = choiceIndex(entry.index)
  const previous = state.choices[index]
  const delta = fieldsOf(entry.delta)
  readContent(delta, index, events)
  events.push(...logprobsEvents(entry, index))
  const updated = addMessage(previous ?? emptyChoice, index, delta, dialect, events)
  const choice = endCalls(addFinish(updated, entry.finish_reason), index, dialect, events)
  if (choice.finish !== undefined && previous?.finish === undefined)
    events.push({ type: 'ending', choice: index })
  return choice === previous ? state : withChoice(state, index, choice)
}

function withChoice(state: StreamState, index: number, choice: Choice): StreamState {
  const choices = state.choices.slice()
  choices[index] = choice
  return { ...state, choices }
}

/** The `finish` of every choice, or a failure where one of them has no finish reason. */
function conclude(dialect: Dialect, state: StreamState, done: boolean): GenerationEvent[] {
  const events: GenerationEvent[] = []
  const finishes: GenerationEvent[] = []
  for (const [index, choice] of state.choices.entries()) {
    if (!choice) continue
    const reason = choice.finish ?? (done && dialect.noFinishReason ? 'stop' : undefined)
    if (reason === undefined) return [incomplete]
    endCalls({ ...choice, finish: reason }, index, dialect, events)
    finishes.push(toFinish(choice, index, reason))
  }
  return finishes.length === 0 ? [incomplete] : [...events, ...finishes]
}

const incomplete = failure(endedEarly)

function failure(error: ProviderError): GenerationEvent {
  return { type: 'failure', error: error }
}

function finishWith(state: StreamState, events: readonly GenerationEvent[]): Step<StreamState> {
  return { state: { ...state, finished: true }, events, done: true }
}
