import {
  endedEarly,
  type GenerationEvent,
  invalidData,
  type ProviderError,
  type ServedTier,
  type Usage,
} from '../../domain/generation/events.ts'
import { numberOf } from '../../lib/json/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { Step } from './protocol.ts'

/** The event of a response that failed. */
export function failure(error: ProviderError): GenerationEvent {
  return { type: 'failure', error }
}

/** The event of a response that ended before it was complete. */
export const incomplete: GenerationEvent = failure(endedEarly)

/** The events of a step without any. */
export const noEvents: readonly GenerationEvent[] = []

/** The state of a stream: once it is finished, no further events are emitted. */
type StreamState = { readonly finished: boolean }

/** Finishes the stream with these events; the rest of the body is not read. */
export function finishWith<State extends StreamState>(
  state: State,
  events: readonly GenerationEvent[],
): Step<State> {
  return { state: { ...state, finished: true }, events, done: true }
}

const unnamed = /^$/

/**
 * The step for data that is not an object: empty data and events of unknown types are ignored, and a broken event is a
 * failure. `ownEvents` matches the names of the protocol's own events.
 */
export function stepInvalid<State extends StreamState>(
  state: State,
  { event, data }: SseEvent,
  parseError: (body: unknown) => ProviderError,
  ownEvents: RegExp = unnamed,
): Step<State> {
  if (event === 'error') return finishWith(state, [failure(parseError(data))])
  if (!ownEvents.test(event) || data.trim() === '') return { state, events: noEvents }
  return finishWith(state, [failure(invalidData)])
}

/** The index of a choice, below 128: no provider returns more, and an invalid index must not make a huge list. */
export function choiceIndex(index: unknown): number {
  return typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < 128 ? index : 0
}

/** Emits a piece of text or of reasoning, unless it is empty. */
export function emitText(
  type: 'text' | 'reasoning',
  text: unknown,
  choice: number,
  events: GenerationEvent[],
): void {
  if (typeof text === 'string' && text !== '') events.push({ type, choice, text })
}

/** Emits the usage, if there is one. */
export function emitUsage(usage: Usage | undefined, events: GenerationEvent[]): void {
  if (usage) events.push({ type: 'usage', usage })
}

/** The service tier that serves a response: null for one that our API does not know, undefined where there is none. */
export function parseTier(tier: unknown): ServedTier | undefined {
  if (typeof tier !== 'string' || tier === '') return undefined
  return tier === 'default' || tier === 'priority' ? tier : null
}

/** Emits the service tier where it changes: every chunk repeats it. */
export function emitTier<State extends { readonly tier?: ServedTier }>(
  state: State,
  tier: ServedTier | undefined,
  events: GenerationEvent[],
): State {
  if (tier === undefined || tier === state.tier) return state
  events.push({ type: 'tier', tier })
  return { ...state, tier }
}

/** A count of tokens, at most `max`: providers have reported parts that are larger than their total. */
export function countOf(value: unknown, max: number = Number.MAX_SAFE_INTEGER): number | undefined {
  const count = numberOf(value)
  return count === undefined ? undefined : Math.min(Math.max(0, Math.trunc(count)), max)
}
