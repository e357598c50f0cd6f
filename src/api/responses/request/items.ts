import { type Fields, textOf } from '../../../lib/json/json.ts'
import type { InputItem, ResponseRequest } from './schema.ts'

/** An item of a conversation in its wire format; its type and its id are always present. */
export type Item = Fields & { readonly type: string; readonly id: string }

/** The input of a request as items; an item without an id gets one that names the response and the position. */
export function inputItems(input: ResponseRequest['input'], responseId: string): readonly Item[] {
  const items = typeof input === 'string' ? [messageOf(input)] : input
  return items.map((item, index) => withTypeAndId(item, responseId, index))
}

function messageOf(text: string): InputItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

function withTypeAndId(item: InputItem, responseId: string, index: number): Item {
  const fields: Fields = item
  const type = item.type ?? ('role' in item ? 'message' : 'item_reference')
  return { ...fields, type, id: textOf(fields.id) ?? inputItemId(responseId, index, type) }
}

/** The id of the input item at this position, for an item that has none. */
export function inputItemId(responseId: string, index: number, type: string): string {
  return `${prefixOf(type)}_${digitsOf(responseId)}i${index}`
}

/** The id of the output item at this position of a response. */
export function outputItemId(responseId: string, index: number, type: string): string {
  return `${prefixOf(type)}_${digitsOf(responseId)}${String(index).padStart(2, '0')}`
}

const itemIdPattern = /^[a-z]{2,4}_([0-9a-f]{32})(?:i\d+|\d{2,})$/

/** The id of the response to which an item belongs; undefined for an item id that the gateway did not make. */
export function responseIdOf(id: string): string | undefined {
  const digits = itemIdPattern.exec(id)?.[1]
  return digits === undefined ? undefined : `resp_${digits}`
}

const prefixes: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['custom_tool_call', 'ctc'],
  ['custom_tool_call_output', 'ctco'],
])

function prefixOf(type: string): string {
  return prefixes.get(type) ?? 'item'
}

function digitsOf(responseId: string): string {
  return responseId.slice('resp_'.length)
}
