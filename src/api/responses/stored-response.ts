import type { JsonObject } from '../../lib/json/json.ts'
import { foldLog } from './events/event-log.ts'
import type { ResponseState } from './events/state.ts'
import { renderClosedItems } from './render/render-response.ts'
import type { ResponseHead } from './request/head.ts'
import type { Item } from './request/items.ts'

/** The stored form of a response: its state, its events and its output follow from these two. */
type StoredLog = { readonly head: JsonObject; readonly log: string }

/** The state of a stored response. */
export function stateOf({ head, log }: StoredLog): ResponseState {
  return foldLog(fromStoredHead(head), log)
}

/** The closed output items of a stored response, as items of a conversation. */
export function outputOf(stored: StoredLog): readonly Item[] {
  return renderClosedItems(stateOf(stored))
}

/** Converts a stored head. */
export function fromStoredHead(stored: JsonObject): ResponseHead {
  // Only `storedHead` writes it.
  return stored as unknown as ResponseHead
}

/** Converts a head for storage. */
export function storedHead(head: ResponseHead): JsonObject {
  // It consists of JSON values only.
  return head as unknown as JsonObject
}

/** Converts items for storage. */
export function storedItems(items: readonly Item[]): readonly JsonObject[] {
  return items as readonly JsonObject[]
}
