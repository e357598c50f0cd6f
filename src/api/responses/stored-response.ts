import type { JsonObject } from '../../lib/json/json.ts'
import { foldLog } from './events/log.ts'
import type { ResponseState } from './events/state.ts'
import type { ResponseHead } from './request/head.ts'
import type { Item } from './request/items.ts'

/** What is stored of a response: all that can be told of it follows from these two. */
export type StoredLog = { readonly head: JsonObject; readonly log: string }

/** The response as it is stored. */
export function stateOf({ head, log }: StoredLog): ResponseState {
  return foldLog(headIn(head), log)
}

/** What its model has said. */
export function outputOf(record: StoredLog): readonly Item[] {
  return stateOf(record).output
}

/** The head as it was stored. */
export function headIn(stored: JsonObject): ResponseHead {
  // Written from one.
  return stored as unknown as ResponseHead
}

/** The head as it is stored. */
export function storedHead(head: ResponseHead): JsonObject {
  // It came as JSON, or was made of it.
  return head as unknown as JsonObject
}

/** The items as they are stored. */
export function storedItems(items: readonly Item[]): readonly JsonObject[] {
  return items as readonly JsonObject[]
}
