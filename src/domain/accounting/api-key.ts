import { hash, timingSafeEqual } from 'node:crypto'
import { randomText } from '../../lib/id.ts'

/** The two parts of a key `sk-weir-<public id>-<secret>`: the id finds it, and the secret proves it. */
export type ApiKey = { readonly publicId: string; readonly secret: string }

const publicIdLength = 12
const secretLength = 32
// The length of a secret is limited, so that a long header costs nothing.
const keyPattern = new RegExp(`^sk-weir-([0-9A-Za-z]{${publicIdLength}})-([0-9A-Za-z]{${secretLength},256})$`)

/** The start of an admin key; it is too short to be the public id of an API key. */
export const adminKeyPrefix = 'sk-weir-admin-'

/** Parses a key; undefined if the text is not one. */
export function parseApiKey(text: string): ApiKey | undefined {
  const [, publicId, secret] = keyPattern.exec(text) ?? []
  return publicId === undefined || secret === undefined ? undefined : { publicId, secret }
}

/** Parses an admin key; undefined if the text is not one. */
export function parseAdminKey(text: string): ApiKey | undefined {
  return text.startsWith(adminKeyPrefix)
    ? parseApiKey(`sk-weir-${text.slice(adminKeyPrefix.length)}`)
    : undefined
}

/** Creates a random key; its secret has 190 random bits. */
export function createApiKey(): ApiKey {
  return { publicId: randomText(publicIdLength), secret: randomText(secretLength) }
}

/** The text of a key, as clients send it. */
export function printApiKey(key: ApiKey): string {
  return `sk-weir-${key.publicId}-${key.secret}`
}

/** The text of an admin key. */
export function printAdminKey(key: ApiKey): string {
  return `${adminKeyPrefix}${key.publicId}-${key.secret}`
}

/** The hash that is stored instead of the secret. A fast hash is enough, because 190 random bits cannot be guessed. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Whether the secret has this hash; compares in constant time. */
export function verifySecret(secret: string, secretHash: Uint8Array): boolean {
  return timingSafeEqual(hashSecret(secret), secretHash)
}
