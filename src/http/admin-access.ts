import { hash, timingSafeEqual } from 'node:crypto'
import {
  adminKeyPrefix,
  type ApiKey,
  parseAdminKey,
  parseApiKey,
  verifySecret,
} from '../domain/accounting/organization.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { adminKeyRequired, invalidAdminKey } from '../lib/errors/http-errors.ts'
import { repeatEvery } from '../lib/time.ts'
import type { KeyDirectory } from '../storage/ports/accounts.ts'
import type { KnownAdminKey } from '../storage/ports/admin-keys.ts'
import { bearerToken, type EndStream } from './authentication.ts'

/** Decides which requests come from an operator: those with WEIR_ADMIN_KEY or an admin key of the database. */
export type AdminAccess = {
  /**
   * Whether the bearer token of a request is an admin key. Throws 401 for an admin key that is not valid. A promise only if
   * the key is not cached.
   */
  accepts(headers: Headers): boolean | Promise<boolean>
  /** Throws 401 unless it is. */
  require(headers: Headers): Promise<void>
  /** Ends a stream of the operator within seconds after its admin key; for `StreamOptions`. */
  watch(headers: Headers): (end: EndStream) => () => void
}

/** Milliseconds. With the age of a cached key, a stream ends at most three seconds after its key. */
const watchIntervalMs = 2000

/** Of WEIR_ADMIN_KEY only the digest is kept; it is compared in constant time. `now` is milliseconds since 1970. */
export function createAdminAccess(
  configured: string | undefined,
  keys: Pick<KeyDirectory<KnownAdminKey>, 'find'>,
  now: () => number = Date.now,
): AdminAccess {
  const expected = configured ? digest(configured) : undefined

  function accepts(headers: Headers): boolean | Promise<boolean> {
    const token = bearerToken(headers.get('authorization'))
    if (token === undefined) return false
    if (expected !== undefined && timingSafeEqual(digest(token), expected)) return true
    if (!token.startsWith(adminKeyPrefix)) return false
    const parts = parseAdminKey(token)
    if (parts === undefined) throw invalidAdminKey('malformed_key')
    const key = keys.find(parts.publicId)
    if (key instanceof Promise) return key.then((found) => isValid(found, parts, now()))
    return isValid(key, parts, now())
  }

  async function require(headers: Headers): Promise<void> {
    if (!(await accepts(headers))) throw adminKeyRequired(wrongKeyOf(headers))
  }

  return {
    accepts,
    require,
    watch: (headers) => (end) =>
      repeatEvery(
        watchIntervalMs,
        () => require(headers),
        // While the database is unavailable, the stream goes on.
        (error) => void (error instanceof ApiError && error.status < 500 && end(error)),
      ).stop,
  }
}

/** Returns true; throws 401 for a key that is not valid. */
function isValid(key: KnownAdminKey | undefined, { publicId, secret }: ApiKey, now: number): true {
  if (key === undefined) throw invalidAdminKey('unknown_key')
  if (!verifySecret(secret, key.secretHash)) throw invalidAdminKey('wrong_secret')
  if (key.revokedAt !== null) throw invalidAdminKey('revoked_key', publicId)
  if (key.expiresAt !== null && key.expiresAt <= now) throw invalidAdminKey('expired_key', publicId)
  return true
}

function wrongKeyOf(headers: Headers): 'no_key' | 'api_key' | 'wrong_admin_key' {
  const token = bearerToken(headers.get('authorization'))
  if (!token) return 'no_key'
  return parseApiKey(token) === undefined ? 'wrong_admin_key' : 'api_key'
}

/** Digests have one length, which `timingSafeEqual` requires. */
function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
