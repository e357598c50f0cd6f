import type { GenerationEvent, ToolCall } from '../../domain/generation/events.ts'
import { randomText } from '../../lib/id.ts'
import { isObject, type Json, parseJson } from '../../lib/json/json.ts'

/** An id for a tool call that no other call has. */
export function newCallId(): string {
  return `call_${randomText(24)}`
}

/**
 * True for an id that only counts the calls of its answer, as `call_0` and `tool_0_search` do. It comes again in
 * other answers, and what is kept by it would be mixed up.
 */
export function onlyCounts({ id, name }: Pick<ToolCall, 'id' | 'name'>): boolean {
  const words = id.replaceAll(name, '').split(/[^a-z\d]+/i)
  return words.every((word) => /^[a-z]*\d{0,3}$/i.test(word))
}

/** The arguments of a tool call as far as they have come. */
export type CallArguments = {
  readonly text: string
  /** Some of it was emitted. Until then it is blank, and may stay so. */
  readonly streamed: boolean
}

/** The choice of a tool call, and its index there. */
export type CallPlace = { readonly choice: number; readonly index: number }

/** Arguments of which nothing has come. */
export const noArguments: CallArguments = { text: '', streamed: false }

/** The arguments with one more fragment, which is emitted. */
export function addFragment(
  known: CallArguments,
  fragment: string,
  place: CallPlace,
  events: GenerationEvent[],
): CallArguments {
  if (fragment === '') return known
  const text = known.text + fragment
  const streamed = known.streamed || fragment.trim() !== ''
  if (streamed) emitDelta(known.streamed ? fragment : text, place, events)
  return { text, streamed }
}

/**
 * Ends a call that has begun, whose arguments the provider repeats as `whole`. What of them was not streamed is emitted,
 * `{}` where the model wrote nothing. What was streamed counts where the repetition only spells it otherwise.
 */
export function endCall(
  call: Omit<ToolCall, 'arguments'> & { readonly state?: Json },
  known: CallArguments,
  whole: string,
  place: CallPlace,
  events: GenerationEvent[],
): void {
  const { id, name, state } = call
  const text = wholeArguments(known, whole, place, events)
  const event = { type: 'tool-call', ...place, call: { id, name, arguments: text } } as const
  events.push(state === undefined ? event : { ...event, state })
}

/** Emits a call that comes whole: its begin, its arguments and its end. */
export function emitWholeCall(
  call: ToolCall,
  state: Json | undefined,
  place: CallPlace,
  events: GenerationEvent[],
): void {
  const { id, name } = call
  events.push({ type: 'tool-call-begin', ...place, id, name })
  endCall({ id, name, state }, noArguments, call.arguments, place, events)
}

function wholeArguments(
  { text, streamed }: CallArguments,
  whole: string,
  place: CallPlace,
  events: GenerationEvent[],
): string {
  if (!streamed) return emitDelta(whole.trim() === '' ? '{}' : whole, place, events)
  if (whole === text || whole.trim() === '') return text
  if (!whole.startsWith(text)) return isObject(parseJson(text)) ? text : whole
  emitDelta(whole.slice(text.length), place, events)
  return whole
}

function emitDelta(text: string, place: CallPlace, events: GenerationEvent[]): string {
  events.push({ type: 'tool-call-delta', ...place, arguments: text })
  return text
}
