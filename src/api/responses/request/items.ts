import { type Fields, textOf } from '../../../lib/json/json.ts'
import { inputItemId } from './item-id.ts'
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
