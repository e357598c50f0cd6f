import { hash, timingSafeEqual } from 'node:crypto'
import { randomText } from '../../lib/id.ts'

/** The two parts of a key `sk-weir-<public id>-<secret>`: one to find it by, one to prove it with. */
export type ApiKey = { readonly publicId: string; readonly secret: string }

const publicIdLength = 12
const secretLength = 32
// The longest secret is bounded so that a header of any length costs nothing.
const form = new RegExp(`^sk-weir-([0-9A-Za-z]{${publicIdLength}})-([0-9A-Za-z]{${secretLength},256})$`)

/** The parts of a key, or undefined for a text that has not its form. */
export function parseApiKey(text: string): ApiKey | undefined {
  const [, publicId, secret] = form.exec(text) ?? []
  return publicId === undefined || secret === undefined ? undefined : { publicId, secret }
}

/** A new key; its secret carries 190 random bits. */
export function createApiKey(): ApiKey {
  return { publicId: randomText(publicIdLength), secret: randomText(secretLength) }
}

/** The key as its owner sends it. */
export function printApiKey(key: ApiKey): string {
  return `sk-weir-${key.publicId}-${key.secret}`
}

/** What is stored in place of the secret. A fast hash is enough: nobody can guess 190 random bits. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

/** Whether the secret is the one that was hashed; takes as long for a near miss as for a far one. */
export function provesKey(secret: string, secretHash: Uint8Array): boolean {
  return timingSafeEqual(hashSecret(secret), secretHash)
}
