import { and, eq, sql } from 'drizzle-orm'
import { serviceUnavailable } from '../../../lib/errors/errors.ts'
import type { Database } from '../connection/database.ts'
import { organizationColumns, organizationExists, toOrganization } from '../organizations/organization-row.ts'
import { api_keys, organizations } from '../tables.ts'
import type { KeyDirectory, KnownKey } from '../../ports/key-directory.ts'

/** Milliseconds. A revocation by another process must hold within a second. */
const longestTrust = 500
const mostEntries = 10_000

type Entry = { readonly key: KnownKey; readonly readAt: number }

/** A directory that remembers the keys it found. Unknown ids are not remembered: nobody can fill it with them. */
export function createKeyDirectory(database: Database, clock = () => performance.now()): KeyDirectory {
  const query = prepareLookup(database)
  const entries = new Map<string, Entry>()

  function find(publicId: string): KnownKey | undefined {
    const known = entries.get(publicId)
    if (known !== undefined && clock() - known.readAt < longestTrust) return known.key
    entries.delete(publicId)
    const readAt = clock()
    const key = lookUp(query, publicId)
    if (key !== undefined) remember(publicId, { key, readAt })
    return key
  }

  function remember(publicId: string, entry: Entry): void {
    const [oldest] = entries.size < mostEntries ? [] : entries.keys()
    if (oldest !== undefined) entries.delete(oldest)
    entries.set(publicId, entry)
  }

  return { find }
}

function prepareLookup(database: Database) {
  return database.query
    .select({ key: api_keys, organization: organizationColumns })
    .from(api_keys)
    .leftJoin(organizations, and(eq(organizations.id, api_keys.organization_id), organizationExists))
    .where(eq(api_keys.public_id, sql.placeholder('publicId')))
    .prepare()
}

function lookUp(query: ReturnType<typeof prepareLookup>, publicId: string): KnownKey | undefined {
  const row = readRow(query, publicId)
  if (row === undefined) return undefined
  return {
    publicId,
    secretHash: row.key.secret_hash,
    expiresAt: row.key.expires_at,
    revokedAt: row.key.revoked_at,
    organization: row.organization && toOrganization(row.organization),
  }
}

/** A database that cannot answer must not look like a key that does not exist. */
function readRow(query: ReturnType<typeof prepareLookup>, publicId: string) {
  try {
    return query.get({ publicId })
  } catch (error) {
    throw serviceUnavailable(
      'The API key cannot be checked at the moment: the database does not answer.',
      error,
    )
  }
}
