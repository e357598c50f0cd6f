import type {
  FinishReason,
  GenerationEvent,
  ProviderError,
  ServedTier,
  ToolCall,
} from '../../../domain/generation/events.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  type Json,
  listOf,
  parseJson,
  textOf,
} from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { nameSet } from '../../../lib/text.ts'
import { hasError } from '../error.ts'
import {
  choiceIndex,
  emitText,
  emitTier,
  emitUsage,
  failure,
  finishWith,
  incomplete,
  stepInvalid,
} from '../parsing.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { callIdFor, emitCompleteCall } from '../tool-call.ts'
import { parseError, parseTier, parseUsage } from './metadata.ts'

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
  readonly tier?: ServedTier
  /** The response has failed: no further events are emitted. */
  readonly finished: boolean
}

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
  if (!isObject(chunk)) return stepInvalid(state, event, parseError)
  return event.event === 'error' ? finishWith(state, [failure(parseError(chunk))]) : readChunk(state, chunk)
}

/** Reads a chunk; a response that was not streamed is one chunk. */
function readChunk(state: StreamState, chunk: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  const metadata = fieldsOf(chunk.usageMetadata)
  let next = emitTier(state, parseTier(metadata), events)
  let error: ProviderError | undefined = hasError(chunk) ? parseError(chunk) : undefined
  for (const item of listOf(chunk.candidates)) {
    const piece = fieldsOf(item)
    next = readPiece(next, piece, events)
    error ??= candidateError(piece)
  }
  if (next.candidates.length === 0 && textOf(fieldsOf(chunk.promptFeedback).blockReason) !== undefined)
    next = { ...next, candidates: [{ callIds: [], finish: blockedPrompt }] }
  emitUsage(parseUsage(metadata), events)
  return error ? finishWith(next, [...events, failure(error)]) : { state: next, events }
}

function readPiece(state: StreamState, piece: Fields, events: GenerationEvent[]): StreamState {
  const index = choiceIndex(piece.index)
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

/** The part of a candidate that has been received so far and is still needed. */
type Candidate = {
  /** The ids of its tool calls. */
  readonly callIds: readonly string[]
  /** Gemini's finish reason. */
  readonly finish?: string
}

/** A candidate before its first chunk. */
const emptyCandidate: Candidate = { callIds: [] }

/** Emits the content of a chunk of the candidate. Returns the candidate, the same object where nothing changed. */
function readCandidate(
  previous: Candidate,
  piece: Fields,
  choice: number,
  events: GenerationEvent[],
): Candidate {
  let callIds = previous.callIds
  for (const item of listOf(fieldsOf(piece.content).parts)) {
    const part = fieldsOf(item)
    emitText(part.thought === true ? 'reasoning' : 'text', part.text, choice, events)
    if (!isObject(part.functionCall)) continue
    const state = stateOf(part)
    const call = toCall(part.functionCall, state, callIds)
    if (!call) continue
    emitCompleteCall(call, state, { choice, index: callIds.length }, events)
    callIds = [...callIds, call.id]
  }
  const finish = textOf(piece.finishReason) ?? previous.finish
  return callIds === previous.callIds && finish === previous.finish ? previous : { callIds, finish }
}

/** The `finish` event of a candidate. */
function toFinish({ callIds }: Candidate, choice: number, reason: string): GenerationEvent {
  return { type: 'finish', choice, reason: finishFor(reason, callIds.length > 0) }
}

/** Calls are received complete. Many models send no id, or the same id for two calls; those get a new one. */
function toCall(
  functionCall: Fields,
  state: Json | undefined,
  taken: readonly string[],
): ToolCall | undefined {
  const name = textOf(functionCall.name)
  if (name === undefined) return undefined
  const providerId = textOf(functionCall.id)
  const freeId = providerId === undefined || taken.includes(providerId) ? undefined : providerId
  const id = callIdFor(freeId, name, state !== undefined)
  return { id, name, arguments: JSON.stringify(functionCall.args ?? {}) }
}

function stateOf(part: Fields): Json | undefined {
  const thoughtSignature = textOf(part.thoughtSignature)
  return thoughtSignature === undefined ? undefined : { thoughtSignature }
}

/** The finish reason of a prompt that was blocked. */
const blockedPrompt = 'PROHIBITED_CONTENT'

/** Our finish reason for Gemini's, which does not distinguish responses with tool calls. */
function finishFor(reason: string, hasToolCalls: boolean): FinishReason {
  if (reason === 'MAX_TOKENS') return 'length'
  if (filterReasons.has(reason) || reason.startsWith('IMAGE_')) return 'content_filter'
  return hasToolCalls ? 'tool_calls' : 'stop'
}

/** The error of a candidate that ended without content: Gemini reports it only by the finish reason. */
function candidateError(candidate: Fields): ProviderError | undefined {
  const reason = textOf(candidate.finishReason)
  if (reason === undefined || !errorReasons.has(reason)) return undefined
  return { message: `the model ended its response with ${reason}`, code: reason, detected: true }
}

const filterReasons = new Set([
  'SAFETY',
  'RECITATION',
  'BLOCKLIST',
  'PROHIBITED_CONTENT',
  'SPII',
  'LANGUAGE',
  'MODEL_ARMOR',
  // For policies without a reason of their own.
  'OTHER',
])

const errorReasons = nameSet(
  'MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS MALFORMED_RESPONSE',
  'MISSING_THOUGHT_SIGNATURE',
)
