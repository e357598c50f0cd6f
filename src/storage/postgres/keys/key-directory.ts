import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { KeyDirectory, KnownKey } from '../../ports/key-directory.ts'
import type { Query } from '../connection/connections.ts'
import {
  organizationColumns,
  type OrganizationRow,
  toOrganization,
} from '../organizations/organization-row.ts'

/** A cached key is read again after this time, while requests still use it. */
const refreshAfterMs = 400
/** A revocation by another process must take effect within a second. */
const maxAgeMs = 900
const maxEntries = 10_000
/** The most reads at once: clients may send any number of unknown keys. */
const maxReads = 500

type CachedKey = { readonly key: KnownKey; readonly readAt: number }

/** Caches the keys that exist; unknown ids are not cached, so that clients cannot fill the cache. `now` is monotonic. */
export function createKeyDirectory(query: Query, now = () => performance.now()): KeyDirectory {
  const entries = new Map<string, CachedKey>()
  let refreshes = 0

  function cache(publicId: string, entry: CachedKey): void {
    const [oldest] = entries.size < maxEntries ? [] : entries.keys()
    if (oldest !== undefined) entries.delete(oldest)
    entries.set(publicId, entry)
  }

  async function readAndCache(publicId: string): Promise<KnownKey | undefined> {
    const [readAt, refreshesBefore] = [now(), refreshes]
    const key = await lookUp(query, publicId)
    // After a refresh, what was read may be older than the change.
    if (refreshes !== refreshesBefore) return key
    entries.delete(publicId)
    if (key !== undefined) cache(publicId, { key, readAt })
    return key
  }

  const reads = createSharedReads(readAndCache)
  return {
    find(publicId) {
      const cached = entries.get(publicId)
      const age = cached === undefined ? Infinity : now() - cached.readAt
      if (cached === undefined || age > maxAgeMs) return reads.read(publicId)
      // A refresh that fails is reported to the request that finds the cached key too old.
      if (age > refreshAfterMs) reads.read(publicId).catch(() => {})
      return cached.key
    },
    refresh() {
      refreshes++
      entries.clear()
      reads.forget()
    },
  }
}

/** Concurrent requests for the same key share one read. */
function createSharedReads(start: (publicId: string) => Promise<KnownKey | undefined>) {
  const running = new Map<string, Promise<KnownKey | undefined>>()
  let count = 0

  return {
    read(publicId: string): Promise<KnownKey | undefined> {
      const shared = running.get(publicId)
      if (shared !== undefined) return shared
      if (count >= maxReads) return Promise.reject(unverifiable(undefined))
      count++
      const started = start(publicId).finally(() => {
        count--
        if (running.get(publicId) === started) running.delete(publicId)
      })
      running.set(publicId, started)
      return started
    },
    /** Reads that are running are not shared with later requests. */
    forget: () => running.clear(),
  }
}

type KeyRow = OrganizationRow & {
  readonly secret_hash: Uint8Array
  readonly expires_at: number | null
  readonly revoked_at: number | null
  /** Null if the organization is deleted, like its balance. */
  readonly id: string | null
  readonly balance: number | null
}

async function lookUp(query: Query, publicId: string): Promise<KnownKey | undefined> {
  const [row] = await readRow(query, publicId)
  if (row === undefined) return undefined
  return {
    publicId,
    secretHash: row.secret_hash,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    organization: row.id === null ? null : toOrganization(row),
    hasCredit: Number(row.balance) > 0,
  }
}

/** An unavailable database must not look like an unknown key. */
async function readRow(query: Query, publicId: string): Promise<readonly KeyRow[]> {
  try {
    return await query<KeyRow>(
      `SELECT k.secret_hash, k.expires_at, k.revoked_at, ${organizationColumns}, o.balance FROM api_keys k
      LEFT JOIN organizations o ON o.id = k.organization_id AND o.deletion IS NULL WHERE k.public_id = $1`,
      [publicId],
    )
  } catch (error) {
    throw unverifiable(error)
  }
}

function unverifiable(cause: unknown): Error {
  return serviceUnavailable(
    'The API key cannot be verified because the database is unavailable. Try again later.',
    cause,
  )
}
