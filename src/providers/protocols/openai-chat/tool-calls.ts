import type { GenerationEvent, ToolCall } from '../../../domain/generation/events.ts'
import { emptyScan, isClosed, type JsonScan, scanPiece } from '../../../lib/json/json-scan.ts'
import { type Fields, fieldsOf, type Json, numberOf, textOf } from '../../../lib/json/json.ts'
import {
  addFragment,
  type CallArguments,
  type CallPlace,
  endCall,
  newCallId,
  noArguments,
  onlyCounts,
} from '../tool-call.ts'
import type { Echo } from './dialect.ts'
import { renamedIn } from './tool-call-state.ts'

/** The tool calls of a choice as far as they have come. */
export type ToolCalls = {
  /** In the order in which they began, which is that of their indexes. */
  readonly begun: readonly PartialToolCall[]
  /** A call that has no name yet, and so cannot begin. */
  readonly unnamed?: UnnamedCall
}

/** A tool call that has begun; its id and its name are final. */
export type PartialToolCall = Omit<ToolCall, 'arguments'> & {
  /** The provider's number for it, which may be missing or that of other calls, too. */
  readonly number?: number
  /** The provider's id for it; empty where it gave none, or one that is taken. */
  readonly given: string
  readonly arguments: CallArguments
  readonly scan: JsonScan
  /** What the provider wants to see again with this call. */
  readonly state?: Json
}

type UnnamedCall = Pick<PartialToolCall, 'number' | 'given' | 'state'> & { readonly arguments: string }

/** Where the pieces belong, and what is known of the calls beside them. */
export type CallContext = {
  readonly choice: number
  /** How many of the calls have ended: nothing is added to those. */
  readonly ended: number
  readonly echo?: Echo
}

/** A choice without tool calls. */
export const noCalls: ToolCalls = { begun: [] }

/** The calls with one more piece of `tool_calls`: the begin of a call, a part of its arguments, or all of it. */
export function addPiece(
  calls: ToolCalls,
  piece: unknown,
  context: CallContext,
  events: GenerationEvent[],
): ToolCalls {
  const fields = fieldsOf(piece)
  const index = continuesUnnamed(calls.unnamed, fields) ? -1 : indexFor(calls.begun, fields)
  const open = calls.begun[index]
  if (!open) return openCall(calls, fields, context, events)
  if (index < context.ended) return calls
  const next = {
    ...open,
    given: open.given || freeId(calls.begun, fields),
    state: stateIn(fields, context.echo) ?? open.state,
  }
  const place = { choice: context.choice, index }
  return {
    ...calls,
    begun: calls.begun.with(index, withArguments(next, argumentsIn(fields), place, events)),
  }
}

/** Ends the call, with what goes back with the whole message or else with this call. */
export function endOpenCall(
  call: PartialToolCall,
  ofMessage: Json | undefined,
  place: CallPlace,
  events: GenerationEvent[],
): void {
  const { id, name, arguments: known } = call
  endCall({ id, name, state: stateFor(call, ofMessage ?? call.state) }, known, known.text, place, events)
}

/** True when the arguments are whole: nothing that continues them would be JSON. */
export function complete({ scan }: PartialToolCall): boolean {
  return isClosed(scan)
}

function continuesUnnamed(unnamed: UnnamedCall | undefined, piece: Fields): boolean {
  const number = numberOf(piece.index)
  return unnamed !== undefined && (number === undefined || number === unnamed.number)
}

/** An id that only counts can keep no state; where it was replaced at the begin, it is in the state, too. */
function stateFor({ id, name, given }: PartialToolCall, state: Json | undefined): Json | undefined {
  if (state === undefined || given === '') return state
  if (id !== given) return renamedIn(state, given, id)
  return onlyCounts({ id, name }) ? undefined : state
}

/** Which call the piece continues: the provider's number may be missing, or be the same for every call. -1 for none. */
function indexFor(begun: readonly PartialToolCall[], piece: Fields): number {
  const number = numberOf(piece.index)
  const index =
    number === undefined ? begun.length - 1 : begun.findLastIndex((call) => call.number === number)
  const open = begun[index]
  return open && continues(open, piece, number) ? index : -1
}

/** A piece with a name begins a call, unless it repeats the name of the one that is still open. */
function continues(open: PartialToolCall, piece: Fields, number: number | undefined): boolean {
  const name = textOf(fieldsOf(piece.function).name)
  const id = textOf(piece.id)
  if (name === undefined) return true
  if (name !== open.name || (id !== undefined && open.given !== '' && id !== open.given)) return false
  const same = number !== undefined || (id !== undefined && id === open.given)
  return same && (argumentsIn(piece) === '' || !complete(open))
}

/** The calls with one more begun, or with one that waits for its name. */
function openCall(
  calls: ToolCalls,
  piece: Fields,
  { choice, echo }: CallContext,
  events: GenerationEvent[],
): ToolCalls {
  const { begun } = calls
  const known = continuesUnnamed(calls.unnamed, piece) ? calls.unnamed : undefined
  const number = known?.number ?? numberOf(piece.index)
  const given = known?.given || freeId(begun, piece)
  const text = (known?.arguments ?? '') + argumentsIn(piece)
  const state = stateIn(piece, echo) ?? known?.state
  const name = textOf(fieldsOf(piece.function).name)
  if (name === undefined) return { begun, unnamed: { number, given, arguments: text, state } }
  const index = begun.length
  const id = idFor(given, name, echo?.on === 'message' ? index === 0 : state !== undefined)
  events.push({ type: 'tool-call-begin', choice, index, id, name })
  const call = { number, given, id, name, arguments: noArguments, scan: emptyScan, state }
  const opened = withArguments(call, text, { choice, index }, events)
  return { begun: [...begun, opened], unnamed: known ? undefined : calls.unnamed }
}

/** The id under which the call begins. What is kept of a message goes with its first call, and may come after it. */
function idFor(given: string, name: string, mayHaveState: boolean): string {
  if (given === '') return newCallId()
  return mayHaveState && onlyCounts({ id: given, name }) ? newCallId() : given
}

function withArguments(
  call: PartialToolCall,
  fragment: string,
  place: CallPlace,
  events: GenerationEvent[],
): PartialToolCall {
  const known = addFragment(call.arguments, fragment, place, events)
  return { ...call, arguments: known, scan: scanPiece(call.scan, fragment) }
}

/** The piece's id, unless another call of the answer has it already. */
function freeId(begun: readonly PartialToolCall[], piece: Fields): string {
  const id = textOf(piece.id) ?? ''
  return begun.some((call) => call.given === id) ? '' : id
}

function argumentsIn(piece: Fields): string {
  const { arguments: value } = fieldsOf(piece.function)
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** It came out of JSON, so JSON can say it. */
function stateIn(piece: Fields, echo: Echo | undefined): Json | undefined {
  if (echo?.on !== 'call' || piece[echo.field] === undefined) return undefined
  return { [echo.field]: piece[echo.field] as Json }
}
