import {
  detectedError,
  type FinishReason,
  type GenerationEvent,
  type ProviderError,
} from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, type Json, listOf, textOf } from '../../../lib/json/json.ts'
import type { Cited } from '../citations.ts'
import { hasError, parseError } from '../error.ts'
import { emitText } from '../parsing.ts'
import { type Dialect, messageFieldOf } from './dialect.ts'
import { addPiece, appendState, endOpenCall, isComplete, noCalls, type ToolCalls } from './tool-calls.ts'

/** The part of a choice that has been received so far and is still needed. */
export type Choice = {
  readonly calls?: ToolCalls
  /** The number of calls that have ended. */
  readonly endedCalls: number
  /** The provider's finish reason. */
  readonly finish?: string
  /** State that the provider needs back with the calls of this turn. */
  readonly state?: Json
  readonly citations?: ReadCitations
}

/**
 * The citations of a choice that were read: annotations of its message, or the sources beside the choices, whichever
 * came first. `count`: how many entries of the list of sources.
 */
type ReadCitations =
  | { readonly form: 'annotations'; readonly cited: Cited }
  | { readonly form: 'sources'; readonly count: number }

/** A choice before its first chunk. */
export const emptyChoice: Choice = { endedCalls: 0 }

/**
 * Returns the choice after a delta of its message, or the same object where nothing changed. Emits the begin and the
 * arguments of its tool calls.
 */
export function addMessage(
  choice: Choice,
  index: number,
  message: Fields,
  dialect: Dialect,
  events: GenerationEvent[],
): Choice {
  const pieces = listOf(message.tool_calls)
  const state = stateAfter(choice, message, dialect)
  if (pieces.length === 0 && state === choice.state) return choice
  const context = {
    choice: index,
    endedCalls: choice.endedCalls,
    stateField: dialect.stateField,
    hasMessageState: state !== undefined,
  }
  const calls = choice.calls ?? noCalls()
  for (const piece of pieces) addPiece(calls, piece, context, events)
  return { ...choice, calls, state }
}

/** Returns the choice with the provider's finish reason; an empty reason is ignored. */
export function addFinish(choice: Choice, reason: unknown): Choice {
  const finish = textOf(reason)
  return finish === undefined || finish === choice.finish ? choice : { ...choice, finish }
}

/**
 * Ends the calls that are complete: those before the last with complete arguments, and all of them once the choice is
 * finished. Where the state of the message may be received after its calls, none ends before the finish.
 */
export function endCalls(choice: Choice, index: number, dialect: Dialect, events: GenerationEvent[]): Choice {
  const begun = choice.calls?.begun ?? []
  const finished = choice.finish !== undefined
  if (choice.endedCalls === begun.length || (!finished && dialect.stateField?.on === 'message')) return choice
  let { endedCalls } = choice
  for (let call = begun[endedCalls]; call; call = begun[endedCalls]) {
    if (!finished && (endedCalls === begun.length - 1 || !isComplete(call))) break
    const state = endedCalls === 0 ? messageState(choice, dialect) : undefined
    endOpenCall(call, state, { choice: index, index: endedCalls }, events)
    endedCalls += 1
  }
  return endedCalls === choice.endedCalls ? choice : { ...choice, endedCalls }
}

/** The `finish` event of a choice. */
export function toFinish(choice: Choice, index: number, reason: string): GenerationEvent {
  return { type: 'finish', choice: index, reason: finishFor(reason, (choice.calls?.begun.length ?? 0) > 0) }
}

function stateAfter(choice: Choice, message: Fields, dialect: Dialect): Json | undefined {
  const field = messageFieldOf(dialect)
  return field === undefined ? undefined : appendState(choice.state, message[field])
}

function messageState({ state }: Choice, dialect: Dialect): Fields | undefined {
  const field = messageFieldOf(dialect)
  return field === undefined || state === undefined ? undefined : { [field]: state }
}

/** Emits the reasoning, the text and the refusal of a message or a delta. */
export function readContent(message: Fields, choice: number, events: GenerationEvent[]): void {
  const { content } = message
  // Where both fields are set, they have the same content.
  emitText('reasoning', textOf(message.reasoning_content) ?? textOf(message.reasoning), choice, events)
  if (typeof content === 'string') emitText('text', content, choice, events)
  else if (Array.isArray(content)) for (const part of content) readPart(fieldsOf(part), choice, events)
  emitText('text', message.refusal, choice, events)
}

function readPart(part: Fields, choice: number, events: GenerationEvent[]): void {
  if (part.type !== 'thinking') return emitText('text', part.text, choice, events)
  emitText('reasoning', part.thinking, choice, events)
  for (const piece of listOf(part.thinking)) emitText('reasoning', fieldsOf(piece).text, choice, events)
}

/** Our finish reason for a provider's. A response with tool calls that ends normally has the reason `tool_calls`. */
function finishFor(reason: string, hasToolCalls: boolean): FinishReason {
  const finishReason = finishReasons.get(reason.toLowerCase()) ?? 'stop'
  if (finishReason === 'length' || finishReason === 'content_filter') return finishReason
  return hasToolCalls ? 'tool_calls' : 'stop'
}

/** The error inside a choice, where the provider reports there that it aborted the response. */
export function choiceError(entry: Fields): ProviderError | undefined {
  if (hasError(entry)) return parseError(entry)
  const reason = textOf(entry.finish_reason)
  if (reason === undefined || !errorReasons.has(reason.toLowerCase())) return undefined
  return detectedError(`it ended its response with ${reason.toLowerCase()}`)
}

const finishReasons = new Map<string, FinishReason>([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['content_filter', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
  ['sensitive', 'content_filter'],
])

const errorReasons = new Set(['error', 'abort', 'insufficient_system_resource', 'network_error'])

/** Emits the log probabilities of a choice or of its chunk, where the provider sends some. */
export function emitLogprobs({ logprobs }: Fields, choice: number, events: GenerationEvent[]): void {
  if (!isObject(logprobs) || Object.values(logprobs).every(isEmpty)) return
  // The body was parsed from JSON.
  events.push({ type: 'logprobs', choice, logprobs: logprobs as Json })
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || (Array.isArray(value) && value.length === 0)
}
