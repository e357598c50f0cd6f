import type { JsonObject } from '../../../lib/json/json.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import type { ResponseRequest } from '../request/schema.ts'

/** What is stored of a background run for as long as it is not over: it may have to begin in another process. */
export type RunOrder = {
  /** Without its input, which is stored with the response, and what only its facts say. */
  readonly request: ResponseRequest
  readonly facts: RequestMetadata
  /** An estimate. */
  readonly promptTokens: number
  /** How many the prompt holds. */
  readonly images: number
}

/** The order as it is stored. */
export function storedOrder({ request, ...rest }: RunOrder): JsonObject {
  // It came as JSON, or was made of it.
  return { ...rest, request: { ...request, input: [], tags: null, trace: null } } as unknown as JsonObject
}

/** The order as it was stored. */
export function orderIn(stored: JsonObject): RunOrder {
  return stored as unknown as RunOrder
}
