import type { GenerationEvent, ProviderError, Usage } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../../lib/json/json.ts'
import { hasError, parseError as parseChatError } from '../error.ts'
import { parseTier, parseUsage as parseChatUsage } from '../openai-chat/parse-response.ts'
import { emitUsage, failure, incomplete } from '../parsing.ts'
import { closeItem, emptyTurn, type Turn } from './turn.ts'

/** The state between two events of a stream. */
export type StreamState = {
  /** True once text was emitted. */
  readonly hasText: boolean
  /** The form of the reasoning that is emitted. */
  readonly reasoning?: 'summary' | 'content'
  readonly turn: Turn
  readonly tier?: string
  /** The response is complete or has failed: no further events are emitted. */
  readonly finished: boolean
}

/** The state before the first event. */
export const initialState: StreamState = { hasText: false, turn: emptyTurn, finished: false }

/** The last events of a response: output that was not streamed, usage, and the `finish` or `failure`. */
export function conclude(state: StreamState, response: Fields, defaultStatus: string): GenerationEvent[] {
  const status = endStatuses.has(response.status) ? String(response.status) : defaultStatus
  const events: GenerationEvent[] = []
  const { turn } = emitMissing(state, listOf(response.output), events)
  readTier(state, response, events)
  emitUsage(parseUsage(response), events)
  events.push(endOf(response, status, turn.endedCalls > 0))
  return events
}

/** Emits the service tier where it changes; `auto` is only the requested tier, not the one that serves the response. */
export function readTier(state: StreamState, response: Fields, events: GenerationEvent[]): StreamState {
  const { service_tier: tier } = response
  if (typeof tier !== 'string' || tier === '' || tier === 'auto' || tier === state.tier) return state
  events.push({ type: 'tier', tier: parseTier(tier) })
  return { ...state, tier }
}

/** The final statuses of a response. */
const endStatuses = new Set<unknown>(['completed', 'incomplete', 'failed', 'cancelled'])

/** Emits the output for which no deltas were received: some engines send none. */
function emitMissing(state: StreamState, output: readonly unknown[], events: GenerationEvent[]): StreamState {
  if (state.reasoning === undefined) events.push(...reasoningIn(output))
  if (!state.hasText) events.push(...textIn(output))
  const { callIds, open, endedCalls } = state.turn
  if (endedCalls > 0) return state
  const turn = output.reduce<Turn>(
    (turn, item, outputIndex) => {
      const fields = fieldsOf(item)
      return closeItem(turn, fields, { outputIndex, itemId: textOf(fields.id) }, events)
    },
    { ...emptyTurn, callIds, open },
  )
  return { ...state, turn }
}

/** The text of the output items, with refusals. */
function textIn(output: readonly unknown[]): GenerationEvent[] {
  return partsOf(output, 'message', 'content')
    .flatMap(({ text, refusal }) => [text, refusal])
    .filter(isNonEmpty)
    .map((text) => ({ type: 'text', choice: 0, text }))
}

/** The reasoning of the output items: the summaries, or the reasoning content where there are none. */
function reasoningIn(output: readonly unknown[]): GenerationEvent[] {
  const summary = partsOf(output, 'reasoning', 'summary').map(({ text }) => text)
  const content = partsOf(output, 'reasoning', 'content').map(({ text }) => text)
  const text = summary.filter(isNonEmpty).join('\n\n') || content.filter(isNonEmpty).join('')
  return text === '' ? [] : [{ type: 'reasoning', choice: 0, text }]
}

function partsOf(output: readonly unknown[], type: string, field: string): Record<string, unknown>[] {
  return output
    .map(fieldsOf)
    .filter((item) => item.type === type)
    .flatMap((item) => listOf(item[field]).map(fieldsOf))
}

function isNonEmpty(text: unknown): text is string {
  return typeof text === 'string' && text !== ''
}

/** The `finish` or `failure` of a response with this status. */
function endOf(response: Fields, status: string, hasToolCalls: boolean): GenerationEvent {
  if (hasError(response) || status === 'failed') return failure(parseError(response))
  if (status === 'completed')
    return { type: 'finish', choice: 0, reason: hasToolCalls ? 'tool_calls' : 'stop' }
  if (status === 'incomplete') return incompleteEnd(textOf(fieldsOf(response.incomplete_details).reason))
  return incomplete
}

function incompleteEnd(reason: string = 'max_output_tokens'): GenerationEvent {
  if (/token|length/.test(reason)) return { type: 'finish', choice: 0, reason: 'length' }
  if (/filter|safety/.test(reason)) return { type: 'finish', choice: 0, reason: 'content_filter' }
  return incomplete
}

/** The usage of a response: the counts of chat completions under other names. */
function parseUsage({ usage }: Fields): Usage | undefined {
  if (!isObject(usage)) return undefined
  return parseChatUsage({
    usage: {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      total_tokens: usage.total_tokens,
      prompt_tokens_details: usage.input_tokens_details,
      completion_tokens_details: usage.output_tokens_details,
    },
  })
}

/**
 * Parses an error: a body as of chat completions, an `error` event with nested or flat fields, or a failed response.
 * Inside a stream, only the code and the type imply an HTTP status.
 */
export function parseError(body: unknown): ProviderError {
  const error = parseChatError(body)
  return { ...error, status: error.status ?? statusFor(`${error.code} ${error.type}`) }
}

/** The first match applies. */
const statuses: readonly (readonly [RegExp, number])[] = [
  [/rate_limit|too_many_requests|quota|billing/, 429],
  [/api_key|authentication/, 401],
  [/permission/, 403],
  [/model_not_found/, 404],
  [/server_error|timeout|overloaded|unavailable/, 500],
  [/context_length|invalid|image|content_policy|content_filter|unsupported/, 400],
]

function statusFor(identifiers: string): number | undefined {
  return statuses.find(([pattern]) => pattern.test(identifiers))?.[1]
}
