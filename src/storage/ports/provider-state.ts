import type { Json } from '../../lib/json/json.ts'
import type { AcquireMemory } from '../../lib/memory-budget.ts'

/** The state that a provider expects back with a later request, by organization and tool call. */
export type ProviderState = {
  /** Replaces the state of the call. Stores nothing for a deleted organization. */
  store(state: NewProviderState): Promise<void>
  /** Resolves with the states that have not expired. The last calls come first where `maxBytes` is too small for all. */
  find(query: ProviderStateQuery): Promise<FoundStates>
  /** Deletes some of the expired values, and resolves with their number: 0 if none are left. */
  deleteExpired(): Promise<number>
}

export type NewProviderState = {
  readonly organization: string
  readonly callId: string
  readonly provider: string
  readonly value: Json
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** The states that some providers gave to these calls, which are all different. */
export type ProviderStateQuery = {
  readonly organization: string
  readonly providers: readonly string[]
  readonly callIds: readonly string[]
  /** Of all states together, as JSON. */
  readonly maxBytes: number
  /** Called with the size of each state; ends the query if it throws. */
  readonly acquireMemory: AcquireMemory
}

export type FoundStates = {
  /** By call id, without damaged ones. */
  readonly states: ReadonlyMap<string, FoundState>
  /** Whether some states did not fit into the bytes. */
  readonly truncated: boolean
}

export type FoundState = { readonly provider: string; readonly value: Json }
