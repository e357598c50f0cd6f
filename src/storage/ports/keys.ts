import type { Secret } from '../../lib/secret.ts'
import type { ListedPage, PageQuery } from './listed-page.ts'

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
