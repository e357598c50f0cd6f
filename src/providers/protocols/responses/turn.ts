import { appendBlock } from '../../../domain/generation/answer-limits.ts'
import type { GenerationEvent } from '../../../domain/generation/events.ts'
import { type Fields, type Json, textOf } from '../../../lib/json/json.ts'
import {
  addFragment,
  beginCall,
  type CallArguments,
  type CallPosition,
  endCall,
  newCallId,
  emptyArguments,
  isCounterId,
} from '../tool-call.ts'
import { toReasoningState, toCallState } from './call-state.ts'

/** The output items that have been received, as far as later items depend on them. */
export type Turn = {
  /** The ids of the calls that have begun. */
  readonly callIds: readonly string[]
  /** The calls that have begun and have not ended. */
  readonly open: readonly OpenCall[]
  /** The number of calls that have ended. */
  readonly endedCalls: number
  /** The reasoning items since the last call. */
  readonly reasoning: readonly Json[]
  /** The provider's `phase` of the text since the last call. */
  readonly phase?: string
}

type OpenCall = ItemPosition & {
  readonly index: number
  readonly id: string
  readonly name: string
  readonly arguments: CallArguments
}

/** The index and the id of an output item. One of them may be missing, and some ids change during a stream. */
export type ItemPosition = { readonly outputIndex?: number; readonly itemId?: string }

/** A turn without output items. */
export const emptyTurn: Turn = { callIds: [], open: [], endedCalls: 0, reasoning: [] }

/** Returns the turn after the begin of an item. A function call with a name begins with it. */
export function openItem(turn: Turn, item: Fields, position: ItemPosition, events: GenerationEvent[]): Turn {
  const name = textOf(item.name)
  if (item.type !== 'function_call' || name === undefined) return turn
  const { callIds } = turn
  const providerId = textOf(item.call_id) ?? ''
  const id = isCounterId({ id: providerId, name }) || callIds.includes(providerId) ? newCallId() : providerId
  const index = callIds.length
  beginCall({ type: 'tool-call-begin', choice: 0, index, id, name }, events)
  const open = { ...position, index, id, name, arguments: emptyArguments }
  return { ...turn, callIds: [...callIds, id], open: [...turn.open, open] }
}

/** Returns the turn after a fragment of the arguments of a call; unchanged where no call is open at the position. */
export function addArguments(
  turn: Turn,
  text: unknown,
  position: ItemPosition,
  events: GenerationEvent[],
): Turn {
  const open = openCallAt(turn, position)
  if (!open || typeof text !== 'string' || text === '') return turn
  const next = { ...open, arguments: addFragment(open.arguments, text, callPosition(open), events) }
  return { ...turn, open: turn.open.map((call) => (call === open ? next : call)) }
}

/** Returns the turn after the end of an item. A function call ends with it, with its state. */
export function closeItem(turn: Turn, item: Fields, position: ItemPosition, events: GenerationEvent[]): Turn {
  switch (item.type) {
    case 'reasoning': {
      const reasoning = toReasoningState(item)
      if (reasoning === undefined) return turn
      events.push({ type: 'reasoning-end', choice: 0, state: { reasoning: [reasoning] } })
      return { ...turn, reasoning: appendBlock(turn.reasoning, reasoning) }
    }
    case 'message':
      return { ...turn, phase: textOf(item.phase) ?? turn.phase }
    case 'function_call':
      return closeCall(turn, item, position, events)
    default:
      return turn
  }
}

/** A call that the token limit cut off has incomplete arguments, and does not end. */
function closeCall(turn: Turn, item: Fields, position: ItemPosition, events: GenerationEvent[]): Turn {
  const openCall = openCallAt(turn, position)
  if (item.status === 'incomplete') return { ...turn, open: turn.open.filter((call) => call !== openCall) }
  const begun = openCall ? turn : openItem(turn, item, position, events)
  const call = openCall ?? (begun === turn ? undefined : begun.open.at(-1))
  if (!call) return turn
  const { callIds, open } = begun
  const state = toCallState(turn.reasoning, turn.phase)
  endCall({ ...call, state }, call.arguments, argumentsOf(item), callPosition(call), events)
  return {
    callIds,
    open: open.filter((other) => other !== call),
    endedCalls: turn.endedCalls + 1,
    reasoning: [],
  }
}

function openCallAt({ open }: Turn, { outputIndex, itemId }: ItemPosition): OpenCall | undefined {
  return open.findLast(
    (call) =>
      (outputIndex !== undefined && call.outputIndex === outputIndex) ||
      (itemId !== undefined && call.itemId === itemId),
  )
}

function callPosition({ index }: OpenCall): CallPosition {
  return { choice: 0, index }
}

function argumentsOf(item: Fields): string {
  const { arguments: value } = item
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
