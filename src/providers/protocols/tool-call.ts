import { requireCallIndex } from '../../domain/generation/answer.ts'
import type { GenerationEvent, ToolCall, ToolCallBegin } from '../../domain/generation/events.ts'
import { randomText } from '../../lib/id.ts'
import { isObject, type Json, parseJson } from '../../lib/json/json.ts'

/**
 * The id of a tool call that the provider gave, or a new one where it gave none. A call whose turn may have state gets a
 * new one for a counter id too: the state is stored under the id.
 */
export function callIdFor(providerId: string | undefined, name: string, mayHaveState: boolean): string {
  if (!providerId) return newCallId()
  return mayHaveState && isCounterId({ id: providerId, name }) ? newCallId() : providerId
}

function newCallId(): string {
  return `call_${randomText(24)}`
}

/**
 * True for an id that only counts the calls of its response, such as `call_0` and `tool_0_search`. Other responses use
 * the same id, so state that is stored under it would be mixed up.
 */
export function isCounterId({ id, name }: Pick<ToolCall, 'id' | 'name'>): boolean {
  const words = id.replaceAll(name, '').split(/[^a-z\d]+/i)
  return words.every((word) => /^[a-z]*\d{0,3}$/i.test(word))
}

/** The arguments of a call as text: some providers send them parsed. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** Emits the begin of a call; throws for more calls than any model makes, so that a parser never holds them all. */
export function beginCall(begin: ToolCallBegin, events: GenerationEvent[]): void {
  requireCallIndex(begin.index)
  events.push(begin)
}

/** The arguments of a tool call that have been received so far. */
export type CallArguments = {
  readonly text: string
  /** True once a delta was emitted. Until then the text is blank, and may stay blank. */
  readonly emitted: boolean
}

/** The choice that a tool call belongs to, and its index there. */
export type CallPosition = { readonly choice: number; readonly index: number }

/** Arguments before the first fragment. */
export const emptyArguments: CallArguments = { text: '', emitted: false }

/** Returns the arguments with one more fragment, and emits it. */
export function addFragment(
  previous: CallArguments,
  fragment: string,
  position: CallPosition,
  events: GenerationEvent[],
): CallArguments {
  if (fragment === '') return previous
  const text = previous.text + fragment
  const emitted = previous.emitted || fragment.trim() !== ''
  if (emitted) emitDelta(previous.emitted ? fragment : text, position, events)
  return { text, emitted }
}

/**
 * Ends a call that has begun. The provider repeats its arguments as `complete`; the part that was not streamed is
 * emitted, `{}` where the model wrote nothing. Where the repetition differs from streamed valid JSON, the streamed text
 * wins.
 */
export function endCall(
  call: Omit<ToolCall, 'arguments'> & { readonly state?: Json },
  previous: CallArguments,
  complete: string,
  position: CallPosition,
  events: GenerationEvent[],
): void {
  const { id, name, state } = call
  const text = completeArguments(previous, complete, position, events)
  const event = { type: 'tool-call', ...position, call: { id, name, arguments: text } } as const
  events.push(state === undefined ? event : { ...event, state })
}

/** Emits a call that is received complete: its begin, its arguments and its end. */
export function emitCompleteCall(
  call: ToolCall,
  state: Json | undefined,
  position: CallPosition,
  events: GenerationEvent[],
): void {
  const { id, name } = call
  const begin = { type: 'tool-call-begin', ...position, id, name } as const
  beginCall(state === undefined ? begin : { ...begin, state }, events)
  endCall({ id, name, state }, emptyArguments, call.arguments, position, events)
}

function completeArguments(
  { text, emitted }: CallArguments,
  complete: string,
  position: CallPosition,
  events: GenerationEvent[],
): string {
  if (!emitted) return emitDelta(complete.trim() === '' ? '{}' : complete, position, events)
  if (complete === text || complete.trim() === '') return text
  if (!complete.startsWith(text)) return isObject(parseJson(text)) ? text : complete
  emitDelta(complete.slice(text.length), position, events)
  return complete
}

function emitDelta(text: string, position: CallPosition, events: GenerationEvent[]): string {
  events.push({ type: 'tool-call-delta', ...position, arguments: text })
  return text
}
