import type { GenerationEvent, ProviderError } from '../../../domain/generation/events.ts'
import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  parseJson,
  textOf,
  withoutEmpty,
} from '../../../lib/json/json.ts'
import type { SseEvent } from '../../../lib/sse.ts'
import { hasError, parseError as parseCommonError } from '../error.ts'
import { emitUsage, failure, finishWith, incomplete, stepInvalid } from '../parsing.ts'
import type { Step, StreamParser } from '../protocol.ts'
import { addDelta, type Blocks, closeBlock, noBlocks, openBlock } from './blocks.ts'
import { finishFor, mergeUsage, parseTier, parseUsage } from './usage.ts'

/** The events of a message that was not streamed. */
export function parseResponse(body: unknown): GenerationEvent[] {
  if (!isObject(body) || hasError(body) || !Array.isArray(body.content)) {
    return [failure(parseError(body))]
  }
  const events: GenerationEvent[] = []
  const counts = fieldsOf(body.usage)
  const tier = parseTier(counts)
  if (tier !== undefined) events.push({ type: 'tier', tier })
  const opened = listOf(body.content).reduce(
    (blocks: typeof noBlocks, block) => openBlock(blocks, fieldsOf(block), events),
    noBlocks,
  )
  const { callIds, pendingEvents } = closeBlock(opened, events)
  emitUsage(parseUsage(counts), events)
  // A complete body needs no stop reason.
  const finish = finishFor({ stop_reason: 'end_turn', ...withoutEmpty(body) }, counts, callIds.length > 0)
  return [...events, ...pendingEvents, finish]
}

/** The state between two events of a stream. */
export type StreamState = {
  readonly blocks: Blocks
  /** The latest counts of the provider. */
  readonly usage: Fields
  /** The first content block has begun. */
  readonly hasBegun: boolean
  /** The provider's stop reason. */
  readonly stopReason?: string
  /** The fields of the end of the message. */
  readonly ending: Fields
  /** The response is complete or has failed: no further events are emitted. */
  readonly finished: boolean
}

/** The parser of a streamed message. */
export const streamParser: StreamParser<StreamState> = {
  initial: () => ({ blocks: noBlocks, usage: {}, ending: {}, hasBegun: false, finished: false }),
  step,
  end: (state) => (state.finished ? [] : [incomplete]),
}

/** The names of the events of the Messages API, and events without one. */
const ownEvents = /^$|^(message|content_block)_/

function step(state: StreamState, event: SseEvent): Step<StreamState> {
  if (state.finished) return { state, events: [], done: true }
  const data = parseJson(event.data)
  if (!isObject(data)) return stepInvalid(state, event, parseError, ownEvents)
  if (hasError(data) || data.type === 'error' || event.event === 'error')
    return finishWith(state, [failure(parseError(data))])
  return readEvent(state, data)
}

function readEvent(state: StreamState, data: Fields): Step<StreamState> {
  const events: GenerationEvent[] = []
  switch (data.type) {
    case 'content_block_delta': {
      const blocks = addDelta(state.blocks, fieldsOf(data.delta), events)
      return { state: blocks === state.blocks ? state : { ...state, blocks }, events }
    }
    case 'content_block_start': {
      const next = begin(state, events)
      const blocks = openBlock(next.blocks, fieldsOf(data.content_block), events)
      return { state: { ...next, blocks }, events }
    }
    case 'content_block_stop':
      return { state: { ...state, blocks: closeBlock(state.blocks, events) }, events }
    case 'message_start':
      return { state: { ...state, usage: mergeUsage(state.usage, fieldsOf(data.message).usage) }, events }
    case 'message_delta':
      return { state: readEnd(state, data, events), events }
    case 'message_stop':
      return conclude(state, events)
    default:
      return { state, events }
  }
}

/** Emits the first usage with the first block: a response that fails before it can still be retried. */
function begin(state: StreamState, events: GenerationEvent[]): StreamState {
  if (state.hasBegun) return state
  const tier = parseTier(state.usage)
  if (tier !== undefined) events.push({ type: 'tier', tier })
  emitUsage(parseUsage(state.usage), events)
  return { ...state, hasBegun: true }
}

function readEnd(state: StreamState, data: Fields, events: GenerationEvent[]): StreamState {
  const usage = mergeUsage(state.usage, data.usage)
  const delta = fieldsOf(data.delta)
  const stopReason = textOf(delta.stop_reason) ?? state.stopReason
  const ending = { ...state.ending, ...withoutEmpty(data), ...withoutEmpty(delta) }
  if (stopReason !== undefined && state.stopReason === undefined) events.push({ type: 'ending', choice: 0 })
  const next = begin({ ...state, usage }, events)
  if (state.hasBegun) emitUsage(parseUsage(usage), events)
  return { ...next, stopReason, ending }
}

/** The `finish`, or a failure where there is no stop reason. */
function conclude(state: StreamState, events: GenerationEvent[]): Step<StreamState> {
  if (state.stopReason === undefined) return finishWith(state, [incomplete])
  const { callIds, pendingEvents } = closeBlock(state.blocks, events)
  const finish = finishFor(state.ending, state.usage, callIds.length > 0)
  return finishWith(state, [...events, ...pendingEvents, finish])
}

/** Parses an error body of Anthropic, or of a cloud in front of it. */
export function parseError(body: unknown): ProviderError {
  const error = parseCommonError(body)
  return { ...error, status: error.status ?? statuses.get(error.type ?? '') }
}

/** Inside a stream, only the type implies an HTTP status. */
const statuses = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])
