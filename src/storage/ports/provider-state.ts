import type { Json } from '../../lib/json/json.ts'

/** The state that a provider expects back with a later request, by organization and tool call. */
export type ProviderState = {
  /** Replaces the state of the call. Stores nothing for a deleted organization. */
  store(state: NewProviderState): Promise<void>
  /** Resolves with the values that have not expired, by call id; omits damaged ones. */
  find(organization: string, provider: string, callIds: readonly string[]): Promise<ReadonlyMap<string, Json>>
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
