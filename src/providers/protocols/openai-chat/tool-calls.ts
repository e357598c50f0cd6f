import { appendBlock } from '../../../domain/generation/answer.ts'
import type { GenerationEvent, ToolCall } from '../../../domain/generation/events.ts'
import { emptyScan, isClosed, type JsonScan, scanPiece } from '../../../lib/json/json-text.ts'
import {
  asJson,
  type Fields,
  fieldsOf,
  type Json,
  numberOf,
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
  isCounterId,
} from '../tool-call.ts'
import type { StateField } from './dialect.ts'

/**
 * The tool calls of a choice that have been received so far. They are changed in place: a stream may have many, in many
 * pieces each.
 */
export type ToolCalls = {
  /** In the order of their indexes, in which they began. */
  readonly begun: PartialToolCall[]
  /** The last call with this index of the provider. */
  readonly byProviderIndex: Map<number, number>
  /** The ids of the provider that calls have. */
  readonly providerIds: Set<string>
  /** A call that cannot begin because its name has not been received. */
  unnamed: UnnamedCall | undefined
}

/** A tool call that has begun; its id and its name are final. */
type PartialToolCall = Omit<ToolCall, 'arguments'> & {
  /** The provider's `index`, which may be missing, or shared by several calls. */
  readonly providerIndex?: number
  /** The provider's id; empty where it sent none, or one that another call has. */
  readonly providerId: string
  readonly arguments: CallArguments
  readonly scan: JsonScan
  /** State that the provider needs back with this call on the next turn. */
  readonly state?: Json
}

type UnnamedCall = Pick<PartialToolCall, 'providerIndex' | 'providerId' | 'state'> & {
  readonly arguments: string
}

/** The choice that the pieces belong to. */
type CallContext = {
  readonly choice: number
  /** The number of calls that have ended: later pieces of those are ignored. */
  readonly endedCalls: number
  readonly stateField?: StateField
  /** Whether the message has state that is stored with its first call. */
  readonly hasMessageState: boolean
}

/** Returns the calls of a choice before the first one. */
export function noCalls(): ToolCalls {
  return { begun: [], byProviderIndex: new Map(), providerIds: new Set(), unnamed: undefined }
}

/** Adds one more entry of `tool_calls`: the begin of a call, a part of its arguments, or all of it. */
export function addPiece(
  calls: ToolCalls,
  piece: unknown,
  context: CallContext,
  events: GenerationEvent[],
): void {
  const fields = fieldsOf(piece)
  const index = isForUnnamed(calls.unnamed, fields) ? -1 : indexFor(calls, fields)
  const open = calls.begun[index]
  if (!open) return openCall(calls, fields, context, events)
  if (index < context.endedCalls) return
  const next = {
    ...open,
    providerId: open.providerId || freeId(calls, fields),
    state: stateOf(fields, context.stateField) ?? open.state,
  }
  calls.providerIds.add(next.providerId)
  const position = { choice: context.choice, index }
  calls.begun[index] = withArguments(next, argumentsIn(fields), position, events)
}

/** Ends the call, with the state of the message and its own. */
export function endOpenCall(
  call: PartialToolCall,
  messageState: Fields | undefined,
  position: CallPosition,
  events: GenerationEvent[],
): void {
  const { id, name, arguments: received } = call
  endCall(
    { id, name, state: stateFor(call, joinStates(call.state, messageState)) },
    received,
    received.text,
    position,
    events,
  )
}

function joinStates(own: Json | undefined, ofMessage: Fields | undefined): Json | undefined {
  return ofMessage === undefined ? own : asJson({ ...fieldsOf(own), ...ofMessage })
}

/** True when the arguments are a complete JSON value, so that no continuation would be JSON. */
export function isComplete({ scan }: PartialToolCall): boolean {
  return isClosed(scan)
}

function isForUnnamed(unnamed: UnnamedCall | undefined, piece: Fields): boolean {
  const providerIndex = numberOf(piece.index)
  return unnamed !== undefined && (providerIndex === undefined || providerIndex === unnamed.providerIndex)
}

/** The state to store with the call: none under a counter id, and with the id of the provider where the call has another. */
function stateFor(
  { id, name, providerId }: Pick<PartialToolCall, 'id' | 'name' | 'providerId'>,
  state: Json | undefined,
): Json | undefined {
  if (state === undefined || providerId === '') return state
  if (id !== providerId) return asJson({ ...fieldsOf(state), [callIdField]: providerId })
  return isCounterId({ id, name }) ? undefined : state
}

/** The field of a stored state with the id that the provider gave to the call. */
export const callIdField = 'id'

/**
 * The index of the call that the piece continues, or -1. The provider's index may be missing, or the same for all
 * calls.
 */
function indexFor({ begun, byProviderIndex }: ToolCalls, piece: Fields): number {
  const providerIndex = numberOf(piece.index)
  const index = providerIndex === undefined ? begun.length - 1 : (byProviderIndex.get(providerIndex) ?? -1)
  const open = begun[index]
  return open && continues(open, piece, providerIndex) ? index : -1
}

/** A piece with a name begins a call, unless it repeats the name of the open call. */
function continues(open: PartialToolCall, piece: Fields, providerIndex: number | undefined): boolean {
  const name = textOf(fieldsOf(piece.function).name)
  const id = textOf(piece.id)
  if (name === undefined) return true
  if (name !== open.name || (id !== undefined && open.providerId !== '' && id !== open.providerId))
    return false
  const isSame = providerIndex !== undefined || (id !== undefined && id === open.providerId)
  return isSame && (argumentsIn(piece) === '' || !isComplete(open))
}

/** Adds a call that has begun, or that waits for its name. */
function openCall(
  calls: ToolCalls,
  piece: Fields,
  { choice, stateField, hasMessageState }: CallContext,
  events: GenerationEvent[],
): void {
  const previous = isForUnnamed(calls.unnamed, piece) ? calls.unnamed : undefined
  const providerIndex = previous?.providerIndex ?? numberOf(piece.index)
  const providerId = previous?.providerId || freeId(calls, piece)
  const text = (previous?.arguments ?? '') + argumentsIn(piece)
  const state = stateOf(piece, stateField) ?? previous?.state
  const name = textOf(fieldsOf(piece.function).name)
  if (name === undefined) {
    calls.unnamed = { providerIndex, providerId, arguments: text, state }
    return
  }
  if (previous) calls.unnamed = undefined
  const index = calls.begun.length
  // The state of a message belongs to its first call, and may be received after it.
  const isStateful = stateField?.on === 'message' || hasMessageState
  const mayHaveState = state !== undefined || (isStateful && index === 0)
  const id = callIdFor(providerId, name, mayHaveState)
  const begin = { type: 'tool-call-begin', choice, index, id, name } as const
  const ownState = stateFor({ id, name, providerId }, state)
  beginCall(ownState === undefined ? begin : { ...begin, state: ownState }, events)
  const call = { providerIndex, providerId, id, name, arguments: emptyArguments, scan: emptyScan, state }
  calls.providerIds.add(providerId)
  if (providerIndex !== undefined) calls.byProviderIndex.set(providerIndex, index)
  calls.begun.push(withArguments(call, text, { choice, index }, events))
}

function withArguments(
  call: PartialToolCall,
  fragment: string,
  position: CallPosition,
  events: GenerationEvent[],
): PartialToolCall {
  const grown = addFragment(call.arguments, fragment, position, events)
  return { ...call, arguments: grown, scan: scanPiece(call.scan, fragment) }
}

/** The id of the piece, or an empty string where another call of the response has it. */
function freeId({ providerIds }: ToolCalls, piece: Fields): string {
  const id = textOf(piece.id) ?? ''
  return providerIds.has(id) ? '' : id
}

function argumentsIn(piece: Fields): string {
  return argumentsText(fieldsOf(piece.function).arguments)
}

/** The cast is safe: the value was parsed from JSON. */
function stateOf(piece: Fields, stateField: StateField | undefined): Json | undefined {
  if (stateField?.on !== 'call' || piece[stateField.field] == null) return undefined
  return { [stateField.field]: piece[stateField.field] as Json }
}

/** Returns the state of a turn's tool calls with one more piece of it: text, or a list of reasoning details. */
export function appendState(state: Json | undefined, piece: unknown): Json | undefined {
  if (typeof piece === 'string')
    return piece === '' ? state : (typeof state === 'string' ? state : '') + piece
  if (!Array.isArray(piece)) return state
  return piece.reduce(appendDetail, Array.isArray(state) ? state : [])
}

/** Fragments of one detail are sent back joined; encrypted details are received complete. */
function appendDetail(details: readonly Json[], piece: Fields): readonly Json[] {
  const last = fieldsOf(details.at(-1))
  const field = typeof last.text === 'string' ? 'text' : 'summary'
  const text = last[field]
  const isSame = last.type === piece.type && last.index === piece.index && typeof text === 'string'
  if (!isSame) return appendBlock(details, asJson(piece))
  const merged = { ...last, ...withoutEmpty(piece), [field]: text + (textOf(piece[field]) ?? '') }
  return [...details.slice(0, -1), asJson(merged)]
}
