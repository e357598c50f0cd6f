import type { GenerationEvent, ProviderError, ServedTier, Usage } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, listOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { hasError, parseError } from '../error.ts'
import {
  choiceIndex,
  countOf,
  emitTier,
  emitUsage,
  failure,
  finishWith,
  incomplete,
  parseTier,
  stepInvalid,
} from '../parsing.ts'
import type { Step, StreamParser } from '../protocol.ts'
import {
  addFinish,
  addMessage,
  type Choice,
  choiceError,
  emitLogprobs,
  emptyChoice,
  endCalls,
  readContent,
  toFinish,
} from './choice.ts'
import { addCitations } from './citations.ts'
import type { Dialect } from './dialect.ts'

/** The events of a chat completion that was not streamed. */
export function parseResponse(dialect: Dialect, body: unknown): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || listOf(body.choices).length === 0) {
    return [failure(parseError(body))]
  }
  const events: GenerationEvent[] = []
  const finishes: GenerationEvent[] = []
  emitTier({}, parseTier(body.service_tier), events)
  for (const item of listOf(body.choices)) {
    const entry = fieldsOf(item)
    const error = choiceError(entry)
    if (error) return [...events, failure(error)]
    finishes.push(readCompleteChoice(dialect, entry, body, events))
  }
  emitUsage(parseUsage(body), events)
  events.push(...finishes)
  return events
}

/** Emits the content of a choice and returns its `finish`. A complete body needs no finish reason. */
function readCompleteChoice(
  dialect: Dialect,
  entry: Fields,
  body: Fields,
  events: GenerationEvent[],
): GenerationEvent {
  const index = choiceIndex(entry.index)
  const message = fieldsOf(entry.message)
  const reason = textOf(entry.finish_reason) ?? 'stop'
  readContent(message, index, events)
  emitLogprobs(entry, index, events)
  const cited = addCitations(emptyChoice, index, message, body, events)
  const choice = addFinish(addMessage(cited, index, message, dialect, events), reason)
  endCalls(choice, index, dialect, events)
  return toFinish(choice, index, reason)
}

/** The state between two chunks of a stream. */
export type StreamState = {
  /** By the index of the choice. */
  readonly choices: readonly (Choice | undefined)[]
  readonly tier?: ServedTier
  /** The response is complete or has failed: no further events are emitted. */
  readonly finished: boolean
}

/** The parser of a streamed chat completion, or of chunks that `toChat` converts to those of one. */
export function streamParser(
  dialect: Dialect,
  toChat: (chunk: Fields) => Fields = (chunk) => chunk,
): StreamParser<StreamState> {
  return {
    initial: () => ({ choices: [], finished: false }),
    step: (state, event) => step(dialect, state, event, toChat),
    end: (state) => (state.finished ? [] : conclude(dialect, state, false)),
  }
}

function step(
  dialect: Dialect,
  state: StreamState,
  event: SseEvent,
  toChat: (chunk: Fields) => Fields,
): Step<StreamState> {
  if (state.finished) return { state, events: [], done: true }
  if (event.data === '[DONE]') return finishWith(state, conclude(dialect, state, true))
  const chunk = parseJson(event.data)
  if (!isObject(chunk)) return stepInvalid(state, event, parseError)
  if (hasError(chunk) || event.event === 'error') return fail(state, [], chunk, parseError(chunk))
  return readChunk(dialect, state, toChat(chunk))
}

function readChunk(dialect: Dialect, state: StreamState, chunk: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  let next = emitTier(state, parseTier(chunk.service_tier), events)
  for (const item of listOf(chunk.choices)) {
    const entry = fieldsOf(item)
    const error = choiceError(entry)
    if (error) return fail(next, events, chunk, error)
    next = readChoice(dialect, next, entry, chunk, events)
  }
  emitUsage(parseUsage(chunk), events)
  return { state: next, events }
}

/** The last step of a response that has failed, with the usage that the chunk may report. */
function fail(
  state: StreamState,
  events: GenerationEvent[],
  chunk: Fields,
  error: ProviderError,
): Step<StreamState> {
  emitUsage(parseUsage(chunk), events)
  events.push(failure(error))
  return finishWith(state, events)
}

function readChoice(
  dialect: Dialect,
  state: StreamState,
  entry: Fields,
  chunk: Fields,
  events: GenerationEvent[],
): StreamState {
  const index = choiceIndex(entry.index)
  const previous = state.choices[index]
  const delta = fieldsOf(entry.delta)
  readContent(delta, index, events)
  emitLogprobs(entry, index, events)
  const cited = addCitations(previous ?? emptyChoice, index, delta, chunk, events)
  const updated = addMessage(cited, index, delta, dialect, events)
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

/** The usage of a response or a chunk; undefined where it has none, or only zeros. */
export function parseUsage(response: Fields): Usage | undefined {
  const counts = isObject(response.usage)
    ? response.usage
    : isObject(response.x_groq) && response.x_groq.usage
  if (!isObject(counts)) return undefined
  const promptTokens = countOf(counts.prompt_tokens) ?? 0
  const total = countOf(counts.total_tokens) ?? 0
  // Some providers count reasoning in the total, but not in the completion.
  const completionTokens = Math.max(countOf(counts.completion_tokens) ?? 0, total - promptTokens)
  if (promptTokens + completionTokens === 0) return undefined
  const prompt = fieldsOf(counts.prompt_tokens_details)
  const completion = fieldsOf(counts.completion_tokens_details)
  const cachedTokens = parseCached(counts, prompt, promptTokens)
  // Each part is limited to the total: providers have reported more.
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens: countOf(prompt.cache_write_tokens, promptTokens - (cachedTokens ?? 0)),
    promptAudioTokens: countOf(prompt.audio_tokens, promptTokens),
    reasoningTokens: countOf(completion.reasoning_tokens, completionTokens),
    completionAudioTokens: countOf(completion.audio_tokens, completionTokens),
  }
}

function parseCached(counts: Fields, details: Fields, promptTokens: number): number | undefined {
  return (
    countOf(details.cached_tokens, promptTokens) ??
    countOf(counts.prompt_cache_hit_tokens, promptTokens) ??
    countOf(counts.cached_tokens, promptTokens)
  )
}
