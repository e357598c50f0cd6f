import type { AdminPermission } from '../../domain/accounting/organization.ts'
import type { Secret } from '../../lib/secret.ts'

/** A key of an operator without its secret. Times are milliseconds since 1970. */
export type AdminKeyRecord = {
  readonly id: string
  readonly name: string
  readonly last4: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  readonly permissions: readonly AdminPermission[]
}

/** A new admin key with its secret, which is not stored and cannot be shown again. */
export type NewAdminKey = { readonly record: AdminKeyRecord; readonly key: Secret }

/** Without permissions, the key reads and writes. */
export type AdminKeyInput = Pick<AdminKeyRecord, 'name' | 'expiresAt'> &
  Partial<Pick<AdminKeyRecord, 'permissions'>>

/** The admin keys, and their changes by one actor. Each function rejects with a message for the operator. */
export type AdminKeys = {
  /** The oldest first. */
  list(): Promise<readonly AdminKeyRecord[]>
  /** Also deletes those that expired more than 30 days ago. */
  create(input: AdminKeyInput): Promise<NewAdminKey>
  /** One that is revoked stays so since then. */
  revoke(id: string): Promise<AdminKeyRecord>
}

/** A stored admin key, for authentication. */
export type KnownAdminKey = AdminKeyRecord & { readonly secretHash: Uint8Array }
