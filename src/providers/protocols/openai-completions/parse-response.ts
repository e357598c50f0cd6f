import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, invalidData, type ProviderError } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { choiceIndex } from '../openai-chat/choice.ts'
import { hasError, parseError } from '../openai-chat/error.ts'
import { choiceError, finishFor } from '../openai-chat/finish.ts'
import { logprobsEvents } from '../openai-chat/logprobs.ts'
import { parseUsage } from '../openai-chat/usage.ts'
import type { Step, StreamParser } from '../protocol.ts'

/** The events of a completion that was not streamed. */
export function parseResponse(body: unknown): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || listOf(body.choices).length === 0)
    return [failure(parseError(body))]
  const events: GenerationEvent[] = []
  const finishes: GenerationEvent[] = []
  for (const item of listOf(body.choices)) {
    const entry = fieldsOf(item)
    const error = choiceError(entry)
    if (error) return [...events, failure(error)]
    events.push(...contentOf(entry))
    finishes.push(toFinish(choiceIndex(entry.index), textOf(entry.finish_reason) ?? 'stop'))
  }
  return [...events, ...usageIn(body), ...finishes]
}

/** The state between two chunks of a stream: the finish reasons by the index of the choice, null for an open choice. */
export type StreamState = {
  readonly finishes: readonly (string | null | undefined)[]
  readonly finished: boolean
}

/** The parser of a streamed completion. */
export const streamParser: StreamParser<StreamState> = {
  initial: () => ({ finishes: [], finished: false }),
  step,
  end: (state) => (state.finished ? [] : conclude(state)),
}

function step(state: StreamState, event: SseEvent): Step<StreamState> {
  if (state.finished) return { state, events: [], done: true }
  if (event.data === '[DONE]') return finishWith(state, conclude(state))
  const chunk = parseJson(event.data)
  if (!isObject(chunk)) return stepInvalid(state, event)
  if (hasError(chunk) || event.event === 'error')
    return finishWith(state, [...usageIn(chunk), failure(parseError(chunk))])
  return readChunk(state, chunk)
}

/** Data that is not an object: empty data and events of unknown types are ignored, a broken chunk is a failure. */
function stepInvalid(state: StreamState, { event, data }: SseEvent): Step<StreamState> {
  if (event === 'error') return finishWith(state, [failure(parseError(data))])
  if (event !== '' || data.trim() === '') return { state, events: [] }
  return finishWith(state, [failure(invalidData)])
}

function readChunk(state: StreamState, chunk: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  let next = state
  for (const item of listOf(chunk.choices)) {
    const entry = fieldsOf(item)
    const error = choiceError(entry)
    if (error) return finishWith(next, [...events, ...usageIn(chunk), failure(error)])
    events.push(...contentOf(entry))
    next = readFinish(next, entry, events)
  }
  return { state: next, events: [...events, ...usageIn(chunk)] }
}

function readFinish(state: StreamState, entry: Fields, events: GenerationEvent[]): StreamState {
  const index = choiceIndex(entry.index)
  const previous = state.finishes[index]
  const finish = textOf(entry.finish_reason) ?? previous ?? null
  if (finish === previous) return state
  if (finish !== null && previous == null) events.push({ type: 'ending', choice: index })
  const finishes = state.finishes.slice()
  finishes[index] = finish
  return { ...state, finishes }
}

/** The text of a choice, with its log probabilities. */
function contentOf(entry: Fields): readonly GenerationEvent[] {
  const choice = choiceIndex(entry.index)
  const text = textOf(entry.text)
  const logprobs = logprobsEvents(entry, choice)
  return text === undefined ? logprobs : [{ type: 'text', choice, text }, ...logprobs]
}

function usageIn(chunk: Fields): readonly GenerationEvent[] {
  const usage = parseUsage(chunk)
  return usage ? [{ type: 'usage', usage }] : []
}

/** The `finish` of every choice, or a failure where one of them has no finish reason. */
function conclude({ finishes }: StreamState): GenerationEvent[] {
  const events: GenerationEvent[] = []
  for (const [index, reason] of finishes.entries()) {
    if (reason === null) return [failure(endedEarly)]
    if (reason !== undefined) events.push(toFinish(index, reason))
  }
  return events.length === 0 ? [failure(endedEarly)] : events
}

function toFinish(choice: number, reason: string): GenerationEvent {
  return { type: 'finish', choice, reason: finishFor(reason, false) }
}

function failure(error: ProviderError): GenerationEvent {
  return { type: 'failure', error }
}

function finishWith(state: StreamState, events: readonly GenerationEvent[]): Step<StreamState> {
  return { state: { ...state, finished: true }, events, done: true }
}
