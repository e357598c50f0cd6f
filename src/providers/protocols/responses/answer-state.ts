import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, fieldsOf, listOf, textOf } from '../../../lib/json/json.ts'
import { parseTier } from '../openai-chat/usage.ts'
import { endOf } from './finish.ts'
import { reasoningIn, textIn } from './output.ts'
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
