import { ApiError, badRequest } from '../../../lib/errors/errors.ts'
import { type Item, responseIdOf } from './items.ts'

/** The most responses whose items one request may refer to, because each of them is read. */
export const maxReferencedResponses = 1000

/** The most references in one request, repeated ones too, because each of them becomes an item. */
export const maxReferences = 10_000

/** The ids of the items that these refer to instead of repeating them, and how often; the 400 for too many. */
export function countReferences(items: readonly Item[]): ReadonlyMap<string, number> {
  const occurrences = new Map<string, number>()
  let count = 0
  for (const item of items) {
    if (!refers(item)) continue
    count += 1
    occurrences.set(item.id, (occurrences.get(item.id) ?? 0) + 1)
  }
  if (count > maxReferences) throw tooManyReferences(count)
  return occurrences
}

/** The ids of the responses that these items are of, each once, or the 400 for too many. */
export function responseIdsOf(itemIds: Iterable<string>): ReadonlySet<string> {
  const responses = new Set([...itemIds].flatMap((id) => responseIdOf(id) ?? []))
  if (responses.size > maxReferencedResponses) throw tooMany(responses.size)
  return responses
}

/** The items with what they refer to in place of the references, or the 404 for one that is not there. */
export function resolveReferences(items: readonly Item[], found: ReadonlyMap<string, Item>): readonly Item[] {
  return items.map((item) => {
    if (!refers(item)) return item
    const meant = found.get(item.id)
    if (!meant) throw itemNotFound(item.id)
    return meant
  })
}

function refers(item: Item): boolean {
  return item.type === 'item_reference'
}

function tooMany(count: number): ApiError {
  const message = `Invalid 'input': its references name items of ${count} responses. At most ${maxReferencedResponses} are read for one request.`
  return badRequest(message, 'array_above_max_length', 'input')
}

function tooManyReferences(count: number): ApiError {
  const message = `Invalid 'input': it has ${count} references to items. At most ${maxReferences} are allowed in one request.`
  return badRequest(message, 'array_above_max_length', 'input')
}

function itemNotFound(id: string): ApiError {
  const advice = 'Only items of stored responses can be referred to; send the item itself instead.'
  const message = `Item with id '${id.slice(0, 100)}' not found. ${advice}`
  return new ApiError(404, message, { type: 'invalid_request_error', param: 'input' })
}
