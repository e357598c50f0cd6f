import { hash, timingSafeEqual } from 'node:crypto'
import { adminKeyRequired } from '../lib/errors/http-errors.ts'

/** The key of the operator, WEIR_ADMIN_KEY. */
export type AdminKey = {
  /** Whether the bearer token of a request is the key; false for every token if there is no key. */
  accepts(headers: Headers): boolean
  /** Throws 401 for any other token. */
  require(headers: Headers): void
}

/** Only the digest of the key is kept; it is compared in constant time. */
export function createAdminKey(key: string | undefined): AdminKey {
  const expected = key ? digest(key) : undefined

  function accepts(headers: Headers): boolean {
    const token = /^bearer +(.*)$/i.exec(headers.get('authorization') ?? '')?.[1]?.trim()
    return expected !== undefined && token !== undefined && timingSafeEqual(digest(token), expected)
  }

  return {
    accepts,
    require(headers) {
      if (!accepts(headers)) throw adminKeyRequired(expected !== undefined)
    },
  }
}

/** Digests have one length, which `timingSafeEqual` requires. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
