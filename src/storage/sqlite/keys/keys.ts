import { and, asc, desc, eq, gt, isNull, lt, sql } from 'drizzle-orm'
import { Secret } from '../../../lib/secret.ts'
import { type ApiKey, createApiKey, hashSecret, printApiKey } from '../../../domain/accounting/api-key.ts'
import { noKeyWithId, ownerOfActive, renewedExpiry } from '../../common/key-rules.ts'
import type { Database } from '../connection/database.ts'
import { organizationExists } from '../organizations/organization-row.ts'
import { accountNamed } from '../organizations/organizations.ts'
import { read } from '../sqlite-errors.ts'
import { api_keys, organizations } from '../tables.ts'
import type { Writer } from '../writer/writer.ts'
import { type ListedPage, type PageQuery, toListedPage } from '../../ports/listed-page.ts'
import type { KeyRecord, Keys, KeyInput, NewKey } from '../../ports/keys.ts'

/** The API keys in the SQLite database. `now` returns milliseconds since 1970. */
export function createKeys(database: Database, writer: Writer, now: () => number = Date.now): Keys {
  return {
    create: (input) => writer.write(() => insertKey(database, input, now())),
    list: () => read(() => selectKeys(database).orderBy(asc(creation)).all()),
    page: (query) => read(() => selectPage(database, query)),
    revoke: (id) => writer.write(() => revokeKey(database, id, now())),
    rotate: (id, grace) => writer.write(() => rotateKey(database, id, grace, now())),
  }
}

/** The order of creation: keys are never deleted. */
const creation = sql`api_keys.rowid`

function selectPage(database: Database, query: PageQuery): ListedPage<KeyRecord> | undefined {
  const { after, limit, order } = query
  const last = after === undefined ? undefined : rowOf(database, after)
  if (last === null) return undefined
  const [direction, follows] = order === 'asc' ? [asc, gt] : [desc, lt]
  const rows = selectKeys(database)
    .where(last === undefined ? undefined : follows(creation, last))
    .orderBy(direction(creation))
    .limit(limit + 1)
    .all()
  return toListedPage(rows, query)
}

function rowOf({ sqlite }: Database, id: string): number | null {
  const row = sqlite
    .query<{ readonly rowid: number }, [string]>('SELECT rowid FROM api_keys WHERE public_id = ?')
    .get(id)
  return row && row.rowid
}

/** Part of a transaction: creates a key, random unless one is passed. */
export function insertKey(database: Database, input: KeyInput, now: number, key = createApiKey()): NewKey {
  const organization = accountNamed(database, input.organization)
  database.query
    .insert(api_keys)
    .values({
      public_id: key.publicId,
      organization_id: organization.id,
      name: input.name,
      secret_hash: hashSecret(key.secret),
      last4: key.secret.slice(-4),
      created_at: now,
      expires_at: input.expiresAt,
    })
    .run()
  return toNewKey(database, key)
}

function toNewKey(database: Database, key: ApiKey): NewKey {
  return { record: keyWithId(database, key.publicId), key: new Secret(printApiKey(key)) }
}

function revokeKey(database: Database, id: string, now: number): KeyRecord {
  keyWithId(database, id)
  database.query
    .update(api_keys)
    .set({ revoked_at: now })
    .where(and(eq(api_keys.public_id, id), isNull(api_keys.revoked_at)))
    .run()
  return keyWithId(database, id)
}

function rotateKey(database: Database, id: string, grace: number, now: number): NewKey {
  const old = keyWithId(database, id)
  const organization = ownerOfActive(old, now)
  const replacement = insertKey(
    database,
    { organization, name: old.name, expiresAt: renewedExpiry(old, now) },
    now,
  )
  database.query
    .update(api_keys)
    .set({ expires_at: Math.min(now + grace, old.expiresAt ?? Infinity), replaced_by: replacement.record.id })
    .where(eq(api_keys.public_id, id))
    .run()
  return replacement
}

function keyWithId(database: Database, id: string): KeyRecord {
  const key = selectKeys(database).where(eq(api_keys.public_id, id)).get()
  if (key === undefined) throw noKeyWithId(id)
  return key
}

function selectKeys(database: Database) {
  return database.query
    .select({
      id: api_keys.public_id,
      name: api_keys.name,
      organization: organizations.name,
      last4: api_keys.last4,
      createdAt: api_keys.created_at,
      expiresAt: api_keys.expires_at,
      revokedAt: api_keys.revoked_at,
      replacedBy: api_keys.replaced_by,
    })
    .from(api_keys)
    .leftJoin(organizations, and(eq(organizations.id, api_keys.organization_id), organizationExists))
    .$dynamic()
}
