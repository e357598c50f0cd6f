import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, type Json, textOf } from '../../../lib/json/json.ts'
import {
  addFragment,
  type CallArguments,
  type CallPlace,
  endCall,
  newCallId,
  noArguments,
  onlyCounts,
} from '../tool-call.ts'
import { keptReasoning, keptState } from './call-state.ts'

/** What is known of the items of an answer, as far as the next ones need it. */
export type Turn = {
  /** The ids of the calls that have begun. */
  readonly callIds: readonly string[]
  /** The calls that have begun and not ended. */
  readonly open: readonly OpenCall[]
  /** How many calls have ended. */
  readonly ended: number
  /** The reasoning items since the last call. */
  readonly reasoning: readonly Json[]
  /** What the provider takes the text since the last call for. */
  readonly phase?: string
}

type OpenCall = ItemPlace & {
  readonly index: number
  readonly id: string
  readonly name: string
  readonly arguments: CallArguments
}

/** Where an item stands in the output and what id it has. One of them may be missing, and some ids change. */
export type ItemPlace = { readonly position?: number; readonly itemId?: string }

/** An answer without any item. */
export const emptyTurn: Turn = { callIds: [], open: [], ended: 0, reasoning: [] }

/** The turn with one more item begun: a call begins with it, where its name is known. */
export function openItem(turn: Turn, item: Fields, place: ItemPlace, events: GenerationEvent[]): Turn {
  const name = textOf(item.name)
  if (item.type !== 'function_call' || name === undefined) return turn
  const { callIds } = turn
  const own = textOf(item.call_id) ?? ''
  const id = onlyCounts({ id: own, name }) || callIds.includes(own) ? newCallId() : own
  const index = callIds.length
  events.push({ type: 'tool-call-begin', choice: 0, index, id, name })
  const open = { ...place, index, id, name, arguments: noArguments }
  return { ...turn, callIds: [...callIds, id], open: [...turn.open, open] }
}

/** The turn with a fragment of the arguments of the call that is there; the same where none has begun. */
export function addArguments(turn: Turn, text: unknown, place: ItemPlace, events: GenerationEvent[]): Turn {
  const open = openAt(turn, place)
  if (!open || typeof text !== 'string' || text === '') return turn
  const next = { ...open, arguments: addFragment(open.arguments, text, placeOf(open), events) }
  return { ...turn, open: turn.open.map((call) => (call === open ? next : call)) }
}

/** The turn with one more finished item. A call ends with it, with what goes back with it. */
export function closeItem(turn: Turn, item: Fields, place: ItemPlace, events: GenerationEvent[]): Turn {
  switch (item.type) {
    case 'reasoning': {
      const kept = keptReasoning(item)
      return kept === undefined ? turn : { ...turn, reasoning: [...turn.reasoning, kept] }
    }
    case 'message':
      return { ...turn, phase: textOf(item.phase) ?? turn.phase }
    case 'function_call':
      return closeCall(turn, item, place, events)
    default:
      return turn
  }
}

/** A call that the limit cut off has no whole arguments, and does not end. */
function closeCall(turn: Turn, item: Fields, place: ItemPlace, events: GenerationEvent[]): Turn {
  const known = openAt(turn, place)
  if (item.status === 'incomplete') return { ...turn, open: turn.open.filter((call) => call !== known) }
  const begun = known ? turn : openItem(turn, item, place, events)
  const call = known ?? (begun === turn ? undefined : begun.open.at(-1))
  if (!call) return turn
  const { callIds, open } = begun
  const state = keptState(turn.reasoning, turn.phase)
  endCall({ ...call, state }, call.arguments, argumentsOf(item), placeOf(call), events)
  return { callIds, open: open.filter((other) => other !== call), ended: turn.ended + 1, reasoning: [] }
}

function openAt({ open }: Turn, { position, itemId }: ItemPlace): OpenCall | undefined {
  return open.findLast(
    (call) =>
      (position !== undefined && call.position === position) ||
      (itemId !== undefined && call.itemId === itemId),
  )
}

function placeOf({ index }: OpenCall): CallPlace {
  return { choice: 0, index }
}

function argumentsOf(item: Fields): string {
  const { arguments: given } = item
  if (typeof given === 'string') return given
  return given === undefined || given === null ? '' : JSON.stringify(given)
}
