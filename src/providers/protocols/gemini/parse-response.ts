import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, invalidData, type ProviderError } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { type Candidate, candidateIndex, emptyCandidate, readCandidate, toFinish } from './candidate.ts'
import { parseError, hasError } from './error.ts'
import { blockedPrompt, candidateError } from './finish.ts'
import { parseTier, parseUsage } from './usage.ts'

/** The events of a response that was not streamed: a stream of one chunk, which needs no finish reason. */
export function parseResponse(body: unknown): GenerationEvent[] {
  if (!isObject(body)) return [failure(parseError(body))]
  const { state, events } = readChunk(initialState, body)
  return [...events, ...conclude(state, 'STOP')]
}

/** The state between two chunks of a stream. */
export type StreamState = {
  /** By the index of the candidate. */
  readonly candidates: readonly (Candidate | undefined)[]
  readonly tier?: 'default' | 'priority' | null
  /** The response has failed: no further events are emitted. */
  readonly finished: boolean
}

/** The state before the first chunk. */
const initialState: StreamState = { candidates: [], finished: false }

/** The parser of a stream. It has no last event: it ends with a finish reason and the end of the body. */
export const streamParser: StreamParser<StreamState> = {
  initial: () => initialState,
  step,
  end: (state) => conclude(state),
}

function step(state: StreamState, event: SseEvent): Step<StreamState> {
  if (state.finished) return { state, events: [], done: true }
  const chunk = parseJson(event.data)
  if (!isObject(chunk)) return stepInvalid(state, event)
  return event.event === 'error' ? failWith(state, [], parseError(chunk)) : readChunk(state, chunk)
}

/** Data that is not an object: empty data and events of unknown types are ignored, a broken chunk is a failure. */
function stepInvalid(state: StreamState, { event, data }: SseEvent): Step<StreamState> {
  if (event === 'error') return failWith(state, [], parseError(data))
  if (event !== '' || data.trim() === '') return { state, events: [] }
  return failWith(state, [], invalidData)
}

/** Reads a chunk; a response that was not streamed is one chunk. */
function readChunk(state: StreamState, chunk: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  const metadata = fieldsOf(chunk.usageMetadata)
  let next = readTier(state, metadata, events)
  let error: ProviderError | undefined = hasError(chunk) ? parseError(chunk) : undefined
  for (const item of listOf(chunk.candidates)) {
    const piece = fieldsOf(item)
    next = readPiece(next, piece, events)
    error ??= candidateError(piece)
  }
  if (next.candidates.length === 0 && textOf(fieldsOf(chunk.promptFeedback).blockReason) !== undefined)
    next = { ...next, candidates: [{ callIds: [], finish: blockedPrompt }] }
  const usage = parseUsage(metadata)
  if (usage) events.push({ type: 'usage', usage })
  return error ? failWith(next, events, error) : { state: next, events }
}

/** Every chunk repeats the service tier; it is emitted only when it changes. */
function readTier(state: StreamState, metadata: Fields, events: GenerationEvent[]): StreamState {
  const tier = parseTier(metadata)
  if (tier === undefined || tier === state.tier) return state
  events.push({ type: 'tier', tier })
  return { ...state, tier }
}

function readPiece(state: StreamState, piece: Fields, events: GenerationEvent[]): StreamState {
  const index = candidateIndex(piece.index)
  const previous = state.candidates[index]
  const candidate = readCandidate(previous ?? emptyCandidate, piece, index, events)
  if (candidate === previous) return state
  if (candidate.finish !== undefined && previous?.finish === undefined)
    events.push({ type: 'ending', choice: index })
  const candidates = state.candidates.slice()
  candidates[index] = candidate
  return { ...state, candidates }
}

/** The `finish` of every candidate, or a failure where one has no finish reason and there is no default. */
function conclude(state: StreamState, defaultReason?: string): GenerationEvent[] {
  if (state.finished) return []
  const finishes: GenerationEvent[] = []
  for (const [index, candidate] of state.candidates.entries()) {
    if (!candidate) continue
    const reason = candidate.finish ?? defaultReason
    if (reason === undefined) return [incomplete]
    finishes.push(toFinish(candidate, index, reason))
  }
  return finishes.length === 0 ? [incomplete] : finishes
}

const incomplete = failure(endedEarly)

function failure(error: ProviderError): GenerationEvent {
  return { type: 'failure', error: error }
}

function failWith(
  state: StreamState,
  events: readonly GenerationEvent[],
  error: ProviderError,
): Step<StreamState> {
  return {
    state: { ...state, finished: true },
    events: [...events, failure(error)],
    done: true,
  }
}
