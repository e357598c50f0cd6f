import type { Allowance } from '../../domain/accounting/allowance.ts'
import type { KeyPermission, Organization, Project } from '../../domain/accounting/organization.ts'

/** A stored key and its organization. */
export type KnownKey = {
  readonly publicId: string
  readonly secretHash: Uint8Array
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** Null if the organization is deleted. */
  readonly organization: Organization | null
  /** Null for a key without a project. */
  readonly project: (Project & { readonly isDeleted: boolean }) | null
  readonly name: string
  /** The id that its budget and its rate limits have. */
  readonly limitsId: string
  /** Its own limits. */
  readonly limits: Allowance
  /** The key that created it, whose limits are also those of this one, but for its budget. */
  readonly parent: KnownParent | null
  readonly permissions: readonly KeyPermission[]
  readonly contentLog: boolean
  /** Whether the balance of the organization is above zero. */
  readonly hasCredit: boolean
}

export type KnownParent = Pick<KnownKey, 'publicId' | 'limitsId' | 'limits' | 'expiresAt' | 'revokedAt'>

/** Finds keys for authentication, fast enough for every request. */
export type KeyDirectory<Key = KnownKey> = {
  /** The key as it was stored at most a second ago. A promise only if it is not cached; rejects with 503 if it cannot be read. */
  find(publicId: string): Key | undefined | Promise<Key | undefined>
  /** Empties the cache: changes that were made by this process take effect at once. */
  refresh(): void
}
