import { ApiError, badRequest } from '../../../lib/errors/errors.ts'
import { type Fields, textOf } from '../../../lib/json/json.ts'
import type { InputItem, ResponseRequest } from './schema.ts'

/** An item of a conversation in its wire format; its type and its id are always present. */
export type Item = Fields & { readonly type: string; readonly id: string }

/** The items that a model receives; references are resolved. */
export type Conversation = {
  /** The items of the previous responses, the oldest first. */
  readonly context: readonly Item[]
  /** The items of the request itself. */
  readonly input: readonly Item[]
}

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

const itemIdPattern = /^[a-z]{2,4}_([0-9a-f]{32})(?:i\d+|(\d{2,}))$/

/** Whether the gateway made this id for an item of a response's output. */
export function isOutputItemId(id: string): boolean {
  return itemIdPattern.exec(id)?.[2] !== undefined
}

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
  ['additional_tools', 'at'],
])

function prefixOf(type: string): string {
  return prefixes.get(type) ?? 'item'
}

function digitsOf(responseId: string): string {
  return responseId.slice('resp_'.length)
}

/** For one request: each of these responses is loaded. */
export const maxReferencedResponses = 1000

/** For one request, repeated references included: each of them becomes an item. */
export const maxReferences = 10_000

/** Counts the references to each item by its id. Throws 400 for too many references. */
export function countReferences(items: readonly Item[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  let total = 0
  for (const item of items) {
    if (!isReference(item)) continue
    total += 1
    counts.set(item.id, (counts.get(item.id) ?? 0) + 1)
  }
  if (total > maxReferences) throw tooManyReferences(total)
  return counts
}

/** The ids of the responses to which these items belong. Throws 400 for too many responses. */
export function responseIdsOf(itemIds: Iterable<string>): ReadonlySet<string> {
  const responses = new Set([...itemIds].flatMap((id) => responseIdOf(id) ?? []))
  if (responses.size > maxReferencedResponses) throw tooManyResponses(responses.size)
  return responses
}

/** Replaces references by the items with their ids. Throws 404 for an item that was not found. */
export function resolveReferences(items: readonly Item[], found: ReadonlyMap<string, Item>): readonly Item[] {
  return items.map((item) => {
    if (!isReference(item)) return item
    const referenced = found.get(item.id)
    if (!referenced) throw itemNotFound(item.id)
    return referenced
  })
}

function isReference(item: Item): boolean {
  return item.type === 'item_reference'
}

function tooManyResponses(count: number): ApiError {
  const message = `Invalid 'input': must reference items of at most ${maxReferencedResponses} responses, not ${count}.`
  return badRequest(message, 'array_above_max_length', 'input')
}

function tooManyReferences(count: number): ApiError {
  const message = `Invalid 'input': must have at most ${maxReferences} item references, not ${count}.`
  return badRequest(message, 'array_above_max_length', 'input')
}

function itemNotFound(id: string): ApiError {
  const advice = 'Only items of stored responses can be referenced. Send the item itself instead.'
  const message = `Item with id '${id.slice(0, 100)}' not found. ${advice}`
  return new ApiError(404, message, { type: 'invalid_request_error', param: 'input' })
}
