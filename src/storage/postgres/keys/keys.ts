import { type ApiKey, createApiKey, hashSecret, printApiKey } from '../../../domain/accounting/api-key.ts'
import { Secret } from '../../../lib/secret.ts'
import { noKeyWithId, ownerOfActive, renewedExpiry } from '../../common/key-rules.ts'
import { type ListedPage, type PageQuery, toListedPage } from '../../ports/listed-page.ts'
import type { KeyInput, KeyRecord, Keys, NewKey } from '../../ports/keys.ts'
import type { Query } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { accountNamed } from '../organizations/organizations.ts'

/** The API keys in the PostgreSQL database. `now` returns milliseconds since 1970. */
export function createKeys({ query, transact }: Database, now: () => number = Date.now): Keys {
  return {
    create: (input) => transact((query) => insertKey(query, input, now())),
    list: () => query<KeyRecord>(`${selectKeys} ORDER BY k.position`),
    page: (page) => selectPage(query, page),
    revoke: (id) => transact((query) => revokeKey(query, id, now())),
    rotate: (id, grace) => transact((query) => rotateKey(query, id, grace, now())),
  }
}

/** By `position`, the order of creation: keys are never deleted. */
async function selectPage(query: Query, page: PageQuery): Promise<ListedPage<KeyRecord> | undefined> {
  const { after, limit, order } = page
  const [last] =
    after === undefined
      ? []
      : await query<{ readonly position: number }>('SELECT position FROM api_keys WHERE public_id = $1', [
          after,
        ])
  if (after !== undefined && last === undefined) return undefined
  const rows = await query<KeyRecord>(
    `${selectKeys} ${last === undefined ? '' : `WHERE k.position ${order === 'asc' ? '>' : '<'} $2`}
      ORDER BY k.position ${order} LIMIT $1`,
    [limit + 1, ...(last === undefined ? [] : [last.position])],
  )
  return toListedPage(rows, page)
}

/** Part of a transaction: creates a key, random unless one is passed. */
export async function insertKey(
  query: Query,
  input: KeyInput,
  now: number,
  key: ApiKey = createApiKey(),
): Promise<NewKey> {
  const organization = await accountNamed(query, input.organization)
  await query(
    'INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at, expires_at) ' +
      'VALUES ($1, $2, $3, $4, $5, $6, $7)',
    [
      key.publicId,
      organization.id,
      input.name,
      Buffer.from(hashSecret(key.secret)),
      key.secret.slice(-4),
      now,
      input.expiresAt,
    ],
  )
  return { record: await keyWithId(query, key.publicId), key: new Secret(printApiKey(key)) }
}

async function revokeKey(query: Query, id: string, now: number): Promise<KeyRecord> {
  await query('UPDATE api_keys SET revoked_at = $2 WHERE public_id = $1 AND revoked_at IS NULL', [id, now])
  return await keyWithId(query, id)
}

async function rotateKey(query: Query, id: string, grace: number, now: number): Promise<NewKey> {
  // Two rotations at once must not both create a key.
  await query('SELECT FROM api_keys WHERE public_id = $1 FOR NO KEY UPDATE', [id])
  const old = await keyWithId(query, id)
  const organization = ownerOfActive(old, now)
  const expiresAt = renewedExpiry(old, now)
  const replacement = await insertKey(query, { organization, name: old.name, expiresAt }, now)
  await query('UPDATE api_keys SET expires_at = $2, replaced_by = $3 WHERE public_id = $1', [
    id,
    Math.min(now + grace, old.expiresAt ?? Infinity),
    replacement.record.id,
  ])
  return replacement
}

async function keyWithId(query: Query, id: string): Promise<KeyRecord> {
  const [key] = await query<KeyRecord>(`${selectKeys} WHERE k.public_id = $1`, [id])
  if (key === undefined) throw noKeyWithId(id)
  return key
}

const selectKeys = `SELECT k.public_id id, k.name, o.name organization, k.last4, k.created_at "createdAt",
  k.expires_at "expiresAt", k.revoked_at "revokedAt", k.replaced_by "replacedBy"
  FROM api_keys k LEFT JOIN organizations o ON o.id = k.organization_id AND o.deletion IS NULL`
