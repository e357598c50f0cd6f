import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { endedEarly, type ProviderError } from '../../../domain/generation/provider-error.ts'
import { type Fields, fieldsOf, listOf, textOf } from '../../../lib/json/json.ts'
import { tellsError } from '../openai-chat/error.ts'
import { parseTier } from '../openai-chat/usage.ts'
import { parseError } from './error.ts'
import { closeItem, emptyTurn, type Turn } from './turn.ts'
import { parseUsage } from './usage.ts'

/** What must be remembered between two events of a streamed answer. */
export type AnswerState = {
  /** True once text was told. */
  readonly text: boolean
  /** Which of its two forms reasoning was told in. */
  readonly reasoning?: 'summary' | 'content'
  readonly turn: Turn
  readonly tier?: string
  /** Nothing more will be told: the answer is whole, or it failed. */
  readonly over: boolean
}

/** An answer of which nothing has come. */
export const beginning: AnswerState = { text: false, turn: emptyTurn, over: false }

/** The last events of an answer: what its end repeats and nobody had told, then how it ended. */
export function conclude(state: AnswerState, response: Fields, word: string): GenerationEvent[] {
  const status = ended.has(response.status) ? String(response.status) : word
  const events: GenerationEvent[] = []
  const { turn } = tellRest(state, listOf(response.output), events)
  readTier(state, response, events)
  const usage = parseUsage(response)
  if (usage) events.push({ type: 'usage', usage })
  events.push(endOf(response, status, turn.ended > 0))
  return events
}

/** Tells the tier that serves the answer where it is new; `auto` is only what was asked for. */
export function readTier(state: AnswerState, response: Fields, events: GenerationEvent[]): AnswerState {
  const { service_tier: tier } = response
  if (typeof tier !== 'string' || tier === '' || tier === 'auto' || tier === state.tier) return state
  events.push({ type: 'tier', tier: parseTier(tier) })
  return { ...state, tier }
}

/** The statuses of an answer to which nothing will be added. */
const ended = new Set<unknown>(['completed', 'incomplete', 'failed', 'cancelled'])

/** Some engines send no deltas for what they have at once. */
function tellRest(state: AnswerState, output: readonly unknown[], events: GenerationEvent[]): AnswerState {
  if (state.reasoning === undefined) events.push(...reasoningIn(output))
  if (!state.text) events.push(...textIn(output))
  const { callIds, open, ended } = state.turn
  if (ended > 0) return state
  const turn = output.reduce<Turn>(
    (turn, item, position) => {
      const fields = fieldsOf(item)
      return closeItem(turn, fields, { position, itemId: textOf(fields.id) }, events)
    },
    { ...emptyTurn, callIds, open },
  )
  return { ...state, turn }
}

/** The text of the items of an answer; a refusal is text. */
export function textIn(output: readonly unknown[]): GenerationEvent[] {
  return partsOf(output, 'message', 'content')
    .flatMap(({ text, refusal }) => [text, refusal])
    .filter(saysSomething)
    .map((text) => ({ type: 'text', choice: 0, text }))
}

/** The reasoning of the items of an answer: their summaries, or the reasoning itself where there are none. */
export function reasoningIn(output: readonly unknown[]): GenerationEvent[] {
  const summary = partsOf(output, 'reasoning', 'summary').map(({ text }) => text)
  const content = partsOf(output, 'reasoning', 'content').map(({ text }) => text)
  const text = summary.filter(saysSomething).join('\n\n') || content.filter(saysSomething).join('')
  return text === '' ? [] : [{ type: 'reasoning', choice: 0, text }]
}

function partsOf(output: readonly unknown[], type: string, field: string): Record<string, unknown>[] {
  return output
    .map(fieldsOf)
    .filter((item) => item.type === type)
    .flatMap((item) => listOf(item[field]).map(fieldsOf))
}

function saysSomething(text: unknown): text is string {
  return typeof text === 'string' && text !== ''
}

/** How an answer with this status ended: a finish, or a failure. */
export function endOf(response: Fields, status: string, calls: boolean): GenerationEvent {
  if (tellsError(response) || status === 'failed') return failure(parseError(response))
  if (status === 'completed') return { type: 'finish', choice: 0, reason: calls ? 'tool_calls' : 'stop' }
  if (status === 'incomplete') return cutOff(textOf(fieldsOf(response.incomplete_details).reason))
  return failure(endedEarly)
}

/** A failure with this complaint. */
export function failure(complaint: ProviderError): GenerationEvent {
  return { type: 'failure', complaint }
}

function cutOff(reason: string = 'max_output_tokens'): GenerationEvent {
  if (/token|length/.test(reason)) return { type: 'finish', choice: 0, reason: 'length' }
  if (/filter|safety/.test(reason)) return { type: 'finish', choice: 0, reason: 'content_filter' }
  return failure(endedEarly)
}
