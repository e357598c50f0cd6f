import { hash, timingSafeEqual } from 'node:crypto'
import { type AdminPermission, adminPermissions } from '../domain/accounting/organization.ts'
import {
  adminKeyPrefix,
  type ApiKey,
  parseAdminKey,
  parseApiKey,
  verifySecret,
} from '../domain/accounting/api-key.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { adminKeyRequired, adminPermissionRequired, invalidAdminKey } from '../lib/errors/http-errors.ts'
import { repeatEvery } from '../lib/time.ts'
import type { KeyDirectory } from '../storage/ports/known-keys.ts'
import type { KnownAdminKey } from '../storage/ports/admin-keys.ts'
import { bearerToken, type EndStream } from './authentication.ts'

/** The admin key of a request. */
export type AdminCaller = {
  /** Null for WEIR_ADMIN_KEY. */
  readonly id: string | null
  readonly name: string
  readonly permissions: readonly AdminPermission[]
}

/** Decides which requests come from an operator: those with WEIR_ADMIN_KEY or an admin key of the database. */
export type AdminAccess = {
  /**
   * The admin key that is the bearer token of a request; undefined for another token. Throws 401 for an admin key that is
   * not valid. A promise only if the key is not cached.
   */
  accepts(headers: Headers): AdminCaller | undefined | Promise<AdminCaller | undefined>
  /** Returns that key; throws 401 without one, and 403 for one that lacks the permission, by default `read`. */
  require(headers: Headers, permission?: AdminPermission): Promise<AdminCaller>
  /**
   * Ends a stream of the operator within seconds after its admin key, or the permission, by default `read`; for
   * `StreamOptions`.
   */
  watch(headers: Headers, permission?: AdminPermission): (end: EndStream) => () => void
  /** Whether the token is WEIR_ADMIN_KEY. */
  isConfigured(token: string): boolean
}

/** Whoever sets the environment of the gateway can do everything. */
const configuredCaller: AdminCaller = { id: null, name: 'WEIR_ADMIN_KEY', permissions: adminPermissions }

/** Milliseconds. With the age of a cached key, a stream ends at most three seconds after its key. */
const watchIntervalMs = 2000

/** Of WEIR_ADMIN_KEY only the digest is kept; it is compared in constant time. `now` is milliseconds since 1970. */
export function createAdminAccess(
  configured: string | undefined,
  keys: Pick<KeyDirectory<KnownAdminKey>, 'find'>,
  now: () => number = Date.now,
): AdminAccess {
  const expected = configured ? digest(configured) : undefined

  const isConfigured = (token: string) => expected !== undefined && timingSafeEqual(digest(token), expected)

  function accepts(headers: Headers): AdminCaller | undefined | Promise<AdminCaller | undefined> {
    const token = bearerToken(headers.get('authorization'))
    if (token === undefined) return undefined
    if (isConfigured(token)) return configuredCaller
    if (!token.startsWith(adminKeyPrefix)) return undefined
    const parts = parseAdminKey(token)
    if (parts === undefined) throw invalidAdminKey('malformed_key')
    const key = keys.find(parts.publicId)
    if (key instanceof Promise) return key.then((found) => callerOf(found, parts, now()))
    return callerOf(key, parts, now())
  }

  async function require(headers: Headers, permission: AdminPermission = 'read'): Promise<AdminCaller> {
    const caller = await accepts(headers)
    if (caller === undefined) throw adminKeyRequired(wrongKeyOf(headers))
    const { id, permissions } = caller
    if (permissions.includes(permission)) return caller
    const all = adminPermissions.filter((one) => one === permission || permissions.includes(one))
    throw adminPermissionRequired(permission, all, id ?? undefined)
  }

  return {
    accepts,
    require,
    isConfigured,
    watch: (headers, permission) => (end) =>
      repeatEvery(
        watchIntervalMs,
        () => require(headers, permission),
        // While the database is unavailable, the stream goes on.
        (error) => void (error instanceof ApiError && error.status < 500 && end(error)),
      ).stop,
  }
}

/** Throws 401 for a key that is not valid. */
function callerOf(key: KnownAdminKey | undefined, { publicId, secret }: ApiKey, now: number): AdminCaller {
  if (key === undefined) throw invalidAdminKey('unknown_key')
  if (!verifySecret(secret, key.secretHash)) throw invalidAdminKey('wrong_secret')
  if (key.revokedAt !== null) throw invalidAdminKey('revoked_key', publicId)
  if (key.expiresAt !== null && key.expiresAt <= now) throw invalidAdminKey('expired_key', publicId)
  return { id: publicId, name: key.name, permissions: key.permissions }
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
