import type { ToolCall } from '../../../generation/events.ts'
import { type Fields, fieldsOf, type Json, numberOf, parseJson, textOf } from '../../../lib/json.ts'
import { newCallId } from '../call-id.ts'

/** A tool call as far as it has come. `id` is empty where the provider gave none of its own. */
export type OpenCall = ToolCall & {
  readonly index?: number
  /** What the provider wants to see again with this call. */
  readonly state?: Json
}

/** The calls with one more piece of `tool_calls`: the begin of a call, a part of its arguments, or all of it. */
export function addPiece(calls: readonly OpenCall[], piece: unknown, echo?: string): readonly OpenCall[] {
  const fields = fieldsOf(piece)
  const position = positionFor(calls, fields)
  const open = calls[position]
  const state = echo !== undefined && fields[echo] !== undefined ? stateFrom(fields, echo) : open?.state
  if (!open) return [...calls, beginCall(calls, fields, state)]
  const { name, arguments: text } = fieldsOf(fields.function)
  return calls.with(position, {
    ...open,
    id: open.id || freeId(calls, fields),
    name: open.name || (textOf(name) ?? ''),
    arguments: open.arguments + argumentsText(text),
    state,
  })
}

/** The call with an id and with arguments, whatever it came with. */
export function toToolCall(call: OpenCall): ToolCall {
  const { id, name, arguments: text } = call
  return { id: id || newCallId(), name, arguments: text.trim() === '' ? '{}' : text }
}

/** True when the arguments are whole: nothing that continues them would be JSON. */
export function complete(call: OpenCall): boolean {
  return typeof parseJson(call.arguments) === 'object'
}

/** Where the piece belongs: the index may be missing, or be the same for every call. -1 for a new call. */
function positionFor(calls: readonly OpenCall[], piece: Fields): number {
  const index = numberOf(piece.index)
  const position =
    index === undefined ? calls.length - 1 : calls.findLastIndex((call) => call.index === index)
  const open = calls[position]
  return open && continues(open, piece, index) ? position : -1
}

/** A piece with a name begins a call, unless it repeats the name of the one that is still open. */
function continues(open: OpenCall, piece: Fields, index: number | undefined): boolean {
  const { name, arguments: text } = fieldsOf(piece.function)
  const id = textOf(piece.id)
  if (textOf(name) === undefined || open.name === '') return true
  if (name !== open.name || (id !== undefined && open.id !== '' && id !== open.id)) return false
  const told = index !== undefined || (id !== undefined && id === open.id)
  return told && (argumentsText(text) === '' || !complete(open))
}

function beginCall(calls: readonly OpenCall[], piece: Fields, state: Json | undefined): OpenCall {
  const { name, arguments: text } = fieldsOf(piece.function)
  return {
    index: numberOf(piece.index),
    id: freeId(calls, piece),
    name: textOf(name) ?? '',
    arguments: argumentsText(text),
    state,
  }
}

/** The piece's id, unless another call of the answer has it already. */
function freeId(calls: readonly OpenCall[], piece: Fields): string {
  const id = textOf(piece.id) ?? ''
  return calls.some((call) => call.id === id) ? '' : id
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** It came out of JSON, so JSON can say it. */
function stateFrom(piece: Fields, echo: string): Json {
  return { [echo]: piece[echo] as Json }
}
