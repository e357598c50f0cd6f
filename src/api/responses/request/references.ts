import { ApiError, badRequest } from '../../../lib/errors/errors.ts'
import { type Item, responseIdOf } from './items.ts'

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
