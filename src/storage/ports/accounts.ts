import type { BillingMode, Organization, OrganizationLimits } from '../../domain/accounting/organization.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Nanos } from '../../lib/usd.ts'

/** An organization with its balance. */
export type OrganizationAccount = Organization & {
  /** Negative if requests cost more than was reserved for them. */
  readonly balance: Nanos
  /** The sum of the open reservations. */
  readonly reserved: Nanos
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The fields to change; absent fields stay. A limit of null uses the one in the settings. */
export type OrganizationChange = Partial<OrganizationLimits> & { readonly billing?: BillingMode }

/** The organizations of a gateway. Each function rejects with a message for the operator. */
export type Organizations = {
  create(name: string): Promise<OrganizationAccount>
  list(): Promise<readonly OrganizationAccount[]>
  /** Whether there is more than one. */
  areSeveral(): Promise<boolean>
  /** One page by the time of creation; undefined if there is no item with the id `after`. */
  page(query: PageQuery): Promise<ListedPage<OrganizationAccount> | undefined>
  /** Finds an organization by its id or by its name; resolves with undefined if there is none. */
  find(reference: string): Promise<OrganizationAccount | undefined>
  change(name: string, change: OrganizationChange): Promise<OrganizationAccount>
  /** Adds to the balance; a negative amount is a correction, and cannot take reserved money. */
  credit(name: string, amount: Nanos, note?: string): Promise<OrganizationAccount>
  /** Hides the organization; the rest of the deletion is left to `PendingDeletions`. */
  beginDeletion(name: string): Promise<OrganizationAccount>
  /**
   * Deletes the organization and its data in steps, and calls `onDeleted` with the number of rows of each step. Its keys
   * stay, without an organization, from the first step on. A later call continues a deletion that was interrupted.
   */
  delete(name: string, onDeleted?: (rows: number) => void): Promise<OrganizationAccount>
}

/** A key without its secret. Times are milliseconds since 1970. */
export type KeyRecord = {
  readonly id: string
  readonly name: string
  /** The name of its organization; null if that is deleted. */
  readonly organization: string | null
  readonly last4: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** The id of the key that a rotation created. */
  readonly replacedBy: string | null
}

/** A new key with its secret, which is not stored and cannot be shown again. */
export type NewKey = { readonly record: KeyRecord; readonly key: Secret }

export type KeyInput = {
  /** The name of an organization. */
  readonly organization: string
  readonly name: string
  readonly expiresAt: number | null
}

/** The API keys of a gateway. Each function rejects with a message for the operator. */
export type Keys = {
  create(input: KeyInput): Promise<NewKey>
  list(): Promise<readonly KeyRecord[]>
  /** One page by the time of creation; undefined if there is no item with the id `after`. */
  page(query: PageQuery): Promise<ListedPage<KeyRecord> | undefined>
  revoke(id: string): Promise<KeyRecord>
  /** Creates a key with the same name, organization and lifetime; the old one expires after `grace` milliseconds. */
  rotate(id: string, grace: number): Promise<NewKey>
}

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

/** Which part of a list to read: up to `limit` items, after the one with the id `after`. */
export type PageQuery = {
  readonly after?: string | undefined
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

/** The items of a page in its order, and whether more items follow. */
export type ListedPage<Item> = { readonly items: readonly Item[]; readonly hasMore: boolean }

/** The page of rows that were read with a limit of one more. */
export function toListedPage<Item>(rows: readonly Item[], { limit }: PageQuery): ListedPage<Item> {
  return { items: rows.slice(0, limit), hasMore: rows.length > limit }
}

/** Why a change by the operator is not possible: the object does not exist, or the change is not valid for it. */
export type OperatorProblem = 'missing' | 'invalid'

/** A change that the operator requested is not possible; the message says why. */
export class OperatorError extends Error {
  readonly problem: OperatorProblem

  constructor(problem: OperatorProblem, message: string) {
    super(message)
    // As the plain error that the command line prints.
    this.name = 'Error'
    this.problem = problem
  }
}
