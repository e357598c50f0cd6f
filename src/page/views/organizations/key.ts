import type { ApiKey } from '../../api/objects.ts'
import { newestFirst, type Pages, useList } from '../../api/pages.ts'
import { useAdminApi } from '../../session.tsx'

/** What a key may do beside sending requests. */
export type KeyPermission = ApiKey['permissions'][number]

/** The state of a key. A replaced one works until it expires. */
type KeyState = 'active' | 'replaced' | 'disabled' | 'expired' | 'revoked'

/** Returns the state of a key now. */
export function stateOf({ revoked_at, expires_at, replaced_by, enabled }: ApiKey): KeyState {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'expired'
  if (!enabled) return 'disabled'
  return replaced_by === null ? 'active' : 'replaced'
}

/** Whether a key has ended for good. */
export function hasEnded(key: ApiKey): boolean {
  const state = stateOf(key)
  return state === 'expired' || state === 'revoked'
}

/** The path of a key in the admin API. */
export function keyPath(id: string): string {
  return `/admin/keys/${encodeURIComponent(id)}`
}

/** The owner of the keys of a list: an organization by its name or ID, or a project by its ID. */
export type KeyOwner = { readonly organization?: string | undefined; readonly project?: string | undefined }

/** The keys of a list: of an owner, or of all organizations; `usable` leaves out those that have ended. */
export type KeyFilter = KeyOwner & { readonly usable?: 'true'; readonly search?: string | undefined }

/** The keys that match a filter, the newest first. */
export function useKeys(filter: KeyFilter): Pages<ApiKey> {
  return useList(useAdminApi(), '/admin/keys', { ...newestFirst, ...filter })
}
