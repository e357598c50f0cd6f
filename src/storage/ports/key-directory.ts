import type { Organization } from '../../domain/accounting/organization.ts'

/** A stored key and its organization. */
export type KnownKey = {
  readonly publicId: string
  readonly secretHash: Uint8Array
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** Null if the organization is deleted. */
  readonly organization: Organization | null
}

/** Finds keys for authentication, fast enough for every request. */
export type KeyDirectory = {
  /** The key as it was stored at most half a second ago; synchronous, because it is nearly always cached. */
  find(publicId: string): KnownKey | undefined
  /** Empties the cache: changes that were made by this process take effect at once. */
  refresh(): void
}
