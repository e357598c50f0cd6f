import { type Fields, textOf } from '../../../lib/json/json.ts'
import type { InputItem, ResponseRequest } from './schema.ts'

/** An item of a conversation as it was written, with a type and an id in any case. */
export type Item = Fields & { readonly type: string; readonly id: string }

/** The input of the response with this id, item by item. */
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

/** The id of the input item at this place of a response, for an item that came without one. */
export function inputItemId(responseId: string, index: number, type: string): string {
  return `${prefixOf(type)}_${digitsOf(responseId)}i${index}`
}

/** The id of the output item at this place of a response. */
export function outputItemId(responseId: string, index: number, type: string): string {
  return `${prefixOf(type)}_${digitsOf(responseId)}${String(index).padStart(2, '0')}`
}

const itemId = /^[a-z]{2,4}_([0-9a-f]{32})(?:i\d+|\d{2,})$/

/** The id of the response that made this item id, or undefined where it is not one of ours. */
export function responseIdOf(id: string): string | undefined {
  const digits = itemId.exec(id)?.[1]
  return digits === undefined ? undefined : `resp_${digits}`
}

const prefixes: ReadonlyMap<string, string> = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
])

function prefixOf(type: string): string {
  return prefixes.get(type) ?? 'item'
}

function digitsOf(responseId: string): string {
  return responseId.slice('resp_'.length)
}
