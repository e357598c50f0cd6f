import type { Organization } from '../../domain/accounting/organization.ts'

/** A stored key and its organization. */
export type KnownKey = {
  readonly publicId: string
  readonly secretHash: Uint8Array
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** Null if the organization is deleted. */
  readonly organization: Organization | null
  /** Whether the balance of the organization is above zero. */
  readonly hasCredit: boolean
}

/** Finds keys for authentication, fast enough for every request. */
export type KeyDirectory = {
  /** The key as it was stored at most a second ago. A promise only if it is not cached; rejects with 503 if it cannot be read. */
  find(publicId: string): KnownKey | undefined | Promise<KnownKey | undefined>
  /** Empties the cache: changes that were made by this process take effect at once. */
  refresh(): void
}
