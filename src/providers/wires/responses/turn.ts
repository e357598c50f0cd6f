import type { GenerationEvent } from '../../../generation/events.ts'
import { type Fields, type Json, textOf } from '../../../lib/json.ts'
import { newCallId, onlyCounts } from '../call-id.ts'
import { keptReasoning, keptState } from './call-state.ts'

/** What is known of the finished items of an answer, as far as the next ones need it. */
export type Turn = {
  /** The ids of the calls that have been told. */
  readonly callIds: readonly string[]
  /** The reasoning items since the last call. */
  readonly reasoning: readonly Json[]
  /** What the provider takes the text since the last call for. */
  readonly phase?: string
}

/** An answer without any item. */
export const emptyTurn: Turn = { callIds: [], reasoning: [] }

/** The turn with one more finished item. A call is told, with what goes back with it. */
export function addItem(turn: Turn, item: Fields, events: GenerationEvent[]): Turn {
  switch (item.type) {
    case 'reasoning': {
      const kept = keptReasoning(item)
      return kept === undefined ? turn : { ...turn, reasoning: [...turn.reasoning, kept] }
    }
    case 'message':
      return { ...turn, phase: textOf(item.phase) ?? turn.phase }
    case 'function_call':
      return addCall(turn, item, events)
    default:
      return turn
  }
}

/** A call that the limit cut off has no whole arguments. */
function addCall(turn: Turn, item: Fields, events: GenerationEvent[]): Turn {
  const name = textOf(item.name)
  if (name === undefined || item.status === 'incomplete') return turn
  const own = textOf(item.call_id) ?? ''
  const id = onlyCounts({ id: own, name }) || turn.callIds.includes(own) ? newCallId() : own
  const event = { type: 'tool-call', choice: 0, call: { id, name, arguments: argumentsOf(item) } } as const
  const state = keptState(turn.reasoning, turn.phase)
  events.push(state === undefined ? event : { ...event, state })
  return { callIds: [...turn.callIds, id], reasoning: [] }
}

function argumentsOf(item: Fields): string {
  const { arguments: given } = item
  if (typeof given === 'string') return given.trim() === '' ? '{}' : given
  return given === undefined || given === null ? '{}' : JSON.stringify(given)
}
