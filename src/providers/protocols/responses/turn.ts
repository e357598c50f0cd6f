import { appendBlock } from '../../../domain/generation/answer.ts'
import type { GenerationEvent } from '../../../domain/generation/events.ts'
import type { PastToolCall } from '../../../domain/generation/request.ts'
import {
  asJson,
  type Fields,
  fieldsOf,
  isObject,
  type Json,
  listOf,
  textOf,
  withoutEmpty,
} from '../../../lib/json/json.ts'
import {
  addFragment,
  argumentsText,
  beginCall,
  type CallArguments,
  callIdFor,
  type CallPosition,
  emptyArguments,
  endCall,
} from '../tool-call.ts'

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
  const id = callIdFor(callIds.includes(providerId) ? undefined : providerId, name, true)
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
  endCall({ ...call, state }, call.arguments, argumentsText(item.arguments), callPosition(call), events)
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

/** The state that is sent back with a tool call: the reasoning items and the phase of the text before it. */
export type CallState = { readonly reasoning: readonly Fields[]; readonly phase?: string }

/**
 * The state of a call of an earlier turn; empty where it is unknown or of another protocol. A caller can write a state:
 * items without reasoning are not sent back.
 */
export function callStateOf(call: PastToolCall | undefined): CallState {
  const { reasoning, phase } = fieldsOf(call?.state)
  const items = listOf(reasoning).filter(isReasoningItem)
  return { reasoning: items.filter((item) => toReasoningState(item) !== undefined), phase: textOf(phase) }
}

function isReasoningItem(item: unknown): item is Fields {
  return isObject(item) && item.type === 'reasoning'
}

/** The state to store with a call; undefined where there is none. */
function toCallState(reasoning: readonly Json[], phase: string | undefined): Json | undefined {
  if (reasoning.length === 0 && phase === undefined) return undefined
  return { ...(reasoning.length > 0 ? { reasoning } : {}), ...(phase === undefined ? {} : { phase }) }
}

/**
 * A reasoning item in the form in which it can be sent back: without empty fields, except for the required summary.
 * Undefined for an item without reasoning: it refers to an item that the provider has not stored, and would be
 * rejected.
 */
function toReasoningState(item: Fields): Json | undefined {
  const content = listOf(item.content)
  if (textOf(item.encrypted_content) === undefined && content.length === 0) return undefined
  return asJson(withoutEmpty({ ...item, content: content.length > 0 ? content : undefined }))
}
