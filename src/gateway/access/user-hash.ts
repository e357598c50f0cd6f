import { storedLabel } from '../../domain/accounting/request-metadata.ts'

/** Returns the hash by which a user is recorded. Without the key, not even guessing names reveals the user. */
export type UserHash = (user: string) => string

/** Half of SHA-256, which is long enough that two users never share a hash. */
const hexDigits = 32

/** Creates the hash of a key; undefined without one: users are recorded as they are. */
export function createUserHash(key: string | undefined): UserHash | undefined {
  if (key === undefined) return undefined
  return (user) =>
    `user_${new Bun.CryptoHasher('sha256', key).update(storedLabel(user)).digest('hex').slice(0, hexDigits)}`
}

/** Whether a user looks like a hash. */
export function isUserHash(user: string): boolean {
  return new RegExp(`^user_[0-9a-f]{${hexDigits}}$`).test(user)
}
