import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, invalidData, type ProviderError } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, isObject, listOf, parseJson, textOf } from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { type Candidate, candidateNumber, emptyCandidate, readCandidate, toFinish } from './candidate.ts'
import { parseError, tellsError } from './error.ts'
import { blocked, complaintIn } from './finish.ts'
import { parseTier, parseUsage } from './usage.ts'

/** The events of a whole answer: a stream of one chunk, which needs no word to say that it is the last. */
export function parseResponse(body: unknown): GenerationEvent[] {
  if (!isObject(body)) return [{ type: 'failure', complaint: parseError(body) }]
  const { state, events } = readChunk(initialState, body)
  return [...events, ...conclude(state, 'STOP')]
}

/** What must be remembered between two chunks of an answer. */
export type AnswerState = {
  /** By the number of the candidate. */
  readonly candidates: readonly (Candidate | undefined)[]
  readonly tier?: 'default' | 'priority' | null
  /** The answer failed: nothing more will be told. */
  readonly over: boolean
}

/** Nothing has come yet. */
export const initialState: AnswerState = { candidates: [], over: false }

/** Reads a streamed answer. No event says that it is the last: a finish reason and the end of the body do. */
export const streamParser: StreamParser<AnswerState> = {
  initial: () => initialState,
  step: readEvent,
  end: (state) => conclude(state),
}

function readEvent(state: AnswerState, event: SseEvent): Step<AnswerState> {
  if (state.over) return { state, events: [], done: true }
  const chunk = parseJson(event.data)
  if (!isObject(chunk)) return stepOver(state, event)
  return event.event === 'error' ? failed(state, [], parseError(chunk)) : readChunk(state, chunk)
}

/** Data that is no object: nothing at all, an event of a foreign kind, or a chunk that was mutilated. */
function stepOver(state: AnswerState, { event, data }: SseEvent): Step<AnswerState> {
  if (event === 'error') return failed(state, [], parseError(data))
  if (event !== '' || data.trim() === '') return { state, events: [] }
  return failed(state, [], invalidData)
}

/** The events of a chunk; a whole answer is one, too. */
export function readChunk(state: AnswerState, chunk: Fields): Step<AnswerState> {
  const events: GenerationEvent[] = []
  const metadata = fieldsOf(chunk.usageMetadata)
  let next = readTier(state, metadata, events)
  let complaint: ProviderError | undefined = tellsError(chunk) ? parseError(chunk) : undefined
  for (const item of listOf(chunk.candidates)) {
    const piece = fieldsOf(item)
    next = readPiece(next, piece, events)
    complaint ??= complaintIn(piece)
  }
  if (next.candidates.length === 0 && textOf(fieldsOf(chunk.promptFeedback).blockReason) !== undefined)
    next = { ...next, candidates: [{ ids: [], finish: blocked }] }
  const usage = parseUsage(metadata)
  if (usage) events.push({ type: 'usage', usage })
  return complaint ? failed(next, events, complaint) : { state: next, events }
}

/** Every chunk repeats the tier; it is told when it is new. */
function readTier(state: AnswerState, metadata: Fields, events: GenerationEvent[]): AnswerState {
  const tier = parseTier(metadata)
  if (tier === undefined || tier === state.tier) return state
  events.push({ type: 'tier', tier })
  return { ...state, tier }
}

function readPiece(state: AnswerState, piece: Fields, events: GenerationEvent[]): AnswerState {
  const number = candidateNumber(piece.index)
  const known = state.candidates[number]
  const candidate = readCandidate(known ?? emptyCandidate, piece, number, events)
  if (candidate === known) return state
  if (candidate.finish !== undefined && known?.finish === undefined)
    events.push({ type: 'ending', choice: number })
  const candidates = state.candidates.slice()
  candidates[number] = candidate
  return { ...state, candidates }
}

/** The finish of every candidate, or the failure that one of them has none; `unsaid` stands in for the word. */
export function conclude(state: AnswerState, unsaid?: string): GenerationEvent[] {
  if (state.over) return []
  const finishes: GenerationEvent[] = []
  for (const [number, candidate] of state.candidates.entries()) {
    if (!candidate) continue
    const word = candidate.finish ?? unsaid
    if (word === undefined) return [incomplete]
    finishes.push(toFinish(candidate, number, word))
  }
  return finishes.length === 0 ? [incomplete] : finishes
}

const incomplete: GenerationEvent = { type: 'failure', complaint: endedEarly }

function failed(
  state: AnswerState,
  events: readonly GenerationEvent[],
  complaint: ProviderError,
): Step<AnswerState> {
  return { state: { ...state, over: true }, events: [...events, { type: 'failure', complaint }], done: true }
}
