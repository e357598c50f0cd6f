import { and, eq, sql } from 'drizzle-orm'
import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import { lazy } from '../../../lib/lazy.ts'
import type { Database } from '../connection/database.ts'
import { organizationColumns, organizationExists, toOrganization } from '../organizations/organization-row.ts'
import { api_keys, organizations } from '../tables.ts'
import type { KeyDirectory, KnownKey } from '../../ports/key-directory.ts'

/** A revocation by another process must take effect within a second. */
const cacheTimeMs = 500
const maxEntries = 10_000

type CachedKey = { readonly key: KnownKey; readonly readAt: number }

/** Caches the keys that exist; unknown ids are not cached, so that clients cannot fill the cache. `now` is monotonic. */
export function createKeyDirectory(database: Database, now = () => performance.now()): KeyDirectory {
  const query = lazy(() => prepareLookup(database))
  const entries = new Map<string, CachedKey>()

  function find(publicId: string): KnownKey | undefined {
    const cached = entries.get(publicId)
    if (cached !== undefined && now() - cached.readAt < cacheTimeMs) return cached.key
    entries.delete(publicId)
    const readAt = now()
    const key = lookUp(query, publicId)
    if (key !== undefined) cache(publicId, { key, readAt })
    return key
  }

  function cache(publicId: string, entry: CachedKey): void {
    const [oldest] = entries.size < maxEntries ? [] : entries.keys()
    if (oldest !== undefined) entries.delete(oldest)
    entries.set(publicId, entry)
  }

  return { find, refresh: () => entries.clear() }
}

type Lookup = ReturnType<typeof prepareLookup>

function prepareLookup(database: Database) {
  return database.query
    .select({ key: api_keys, organization: organizationColumns, balance: organizations.balance })
    .from(api_keys)
    .leftJoin(organizations, and(eq(organizations.id, api_keys.organization_id), organizationExists))
    .where(eq(api_keys.public_id, sql.placeholder('publicId')))
    .prepare()
}

function lookUp(query: () => Lookup, publicId: string): KnownKey | undefined {
  const row = readRow(query, publicId)
  if (row === undefined) return undefined
  return {
    publicId,
    secretHash: row.key.secret_hash,
    expiresAt: row.key.expires_at,
    revokedAt: row.key.revoked_at,
    organization: row.organization && toOrganization(row.organization),
    hasCredit: (row.balance ?? 0) > 0,
  }
}

/** An unavailable database must not look like an unknown key. */
function readRow(query: () => Lookup, publicId: string) {
  try {
    return query().get({ publicId })
  } catch (error) {
    throw serviceUnavailable(
      'The API key cannot be verified because the database is unavailable. Try again later.',
      error,
    )
  }
}
