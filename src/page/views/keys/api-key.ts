import type { ApiClient } from '../../api/client.ts'
import { loadAll } from '../../api/load-all.ts'

/** A key without its secret, as `GET /admin/keys` returns it. */
export type ApiKey = {
  readonly id: string
  readonly name: string
  /** Null if the organization is deleted. */
  readonly organization: string | null
  readonly last4: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly replaced_by: string | null
}

/** A new key with its secret, which only the reply to its creation has. */
export type NewApiKey = Pick<ApiKey, 'id' | 'name' | 'organization' | 'expires_at'> & { readonly key: string }

/** Whether a key works: a replaced one works until it expires. */
export type KeyState = 'active' | 'replaced' | 'expired' | 'revoked'

/** Returns the state of a key at a time in milliseconds. */
export function stateOf({ revoked_at, expires_at, replaced_by }: ApiKey, now = Date.now()): KeyState {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && Date.parse(expires_at) <= now) return 'expired'
  return replaced_by === null ? 'active' : 'replaced'
}

/** Whether requests with a key in this state are accepted. */
export function works(state: KeyState): boolean {
  return state === 'active' || state === 'replaced'
}

/** Loads the keys of all organizations. */
export function loadKeys(client: ApiClient, signal?: AbortSignal): Promise<readonly ApiKey[]> {
  return loadAll(client, '/admin/keys', signal)
}
