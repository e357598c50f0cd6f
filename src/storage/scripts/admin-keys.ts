import { and, eq, getTableColumns, gt, isNull, lt, or, sql } from 'drizzle-orm'
import { type AdminPermission, defaultAdminPermissions } from '../../domain/accounting/organization.ts'
import { createApiKey, hashSecret, printAdminKey } from '../../domain/accounting/api-key.ts'
import { Secret } from '../../lib/secret.ts'
import { camelCase } from '../../lib/text.ts'
import { isoTimeOrNull } from '../../lib/time.ts'
import { missing } from '../common/account-rules.ts'
import type {
  AdminKeyInput,
  AdminKeyRecord,
  AdminKeys,
  KnownAdminKey,
  NewAdminKey,
} from '../ports/admin-keys.ts'
import type { AuditEvent, AuditFields } from '../ports/audit.ts'
import { admin_keys } from '../schema/organizations.ts'
import { insertion, returning, select, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { textsOf } from './allowance.ts'
import { type Change, recordChange } from './audit.ts'

/** The admin keys of a database, with the changes of an actor. */
export function createAdminKeys(runner: ScriptRunner, by: () => Change): AdminKeys {
  return {
    list: () => runner.read(listAdminKeys),
    create: (input) => runner.transact(() => createAdminKey(input, by())),
    revoke: (id) => runner.transact(() => revokeAdminKey(id, by())),
  }
}

/** Milliseconds for which an expired key is still listed: each `weir open --admin` makes one. */
const listedAfterExpiryMs = 30 * 86_400_000

/** Creates a random admin key. */
export function* createAdminKey(
  { name, expiresAt, permissions = defaultAdminPermissions }: AdminKeyInput,
  by: Change,
): Script<NewAdminKey> {
  const { now } = by
  yield* removeExpired({ before: now - listedAfterExpiryMs })
  const key = createApiKey()
  const { publicId: id, secret } = key
  const row = { id, name, last4: secret.slice(-4), createdAt: now, expiresAt, revokedAt: null }
  yield* insertKey({
    public_id: id,
    name,
    secret_hash: hashSecret(secret),
    last4: row.last4,
    created_at: now,
    expires_at: expiresAt,
    permissions: JSON.stringify(permissions),
  })
  const record = { ...row, permissions }
  yield* recordKey('admin_key.created', record, null, by)
  return { record, key: new Secret(printAdminKey(key)) }
}

/** Part of a transaction: writes the entry of a change. */
function recordKey(
  event: AuditEvent,
  key: AdminKeyRecord,
  before: AuditFields | null,
  by: Change,
): Script<void> {
  const { id, name } = key
  return recordChange(by, { event, resource: { type: 'admin_key', id, name }, before, after: valuesOf(key) })
}

function valuesOf({ name, permissions, expiresAt, revokedAt }: AdminKeyRecord): AuditFields {
  return { name, permissions, expires_at: isoTimeOrNull(expiresAt), revoked_at: isoTimeOrNull(revokedAt) }
}

const removeExpired = statement(
  (values: Parameters<{ before: number }>) =>
    sql<never>`delete from ${admin_keys} where ${lt(admin_keys.expires_at, values.before)}`,
)

const insertKey = insertion(admin_keys, [
  'public_id',
  'name',
  'secret_hash',
  'last4',
  'created_at',
  'expires_at',
  'permissions',
])

const { public_id, secret_hash, ...columns } = getTableColumns(admin_keys)

/** The columns of a record; the secret is not one of them. */
const recordFields = { id: public_id, ...camelCase(columns) }

/** A row with its permissions read. */
function withPermissions<Row extends { readonly permissions: string | null }>(row: Row) {
  const permissions =
    row.permissions === null
      ? defaultAdminPermissions
      : (textsOf(row.permissions) as readonly AdminPermission[])
  return { ...row, permissions }
}

function* listAdminKeys(): Script<readonly AdminKeyRecord[]> {
  return (yield* selectAll()).map(withPermissions)
}

const selectAll = statement(() =>
  select(recordFields, sql`from ${admin_keys} order by ${admin_keys.created_at}, ${admin_keys.public_id}`),
)

function* revokeAdminKey(id: string, by: Change): Script<AdminKeyRecord> {
  const { length } = yield* setRevoked({ id, now: by.now })
  const [row] = yield* selectRecord({ id })
  if (row === undefined) throw missing(`admin key with the ID ${id}`, 'admin keys', 'admin-keys')
  const record = withPermissions(row)
  const before = valuesOf({ ...record, revokedAt: null })
  if (length > 0) yield* recordKey('admin_key.deleted', record, before, by)
  return record
}

const setRevoked = statement((values: Parameters<{ id: string; now: number }>) =>
  update(
    admin_keys,
    { revoked_at: values.now },
    returning(
      { id: admin_keys.public_id },
      sql`where ${and(eq(admin_keys.public_id, values.id), isNull(admin_keys.revoked_at))}`,
    ),
  ),
)

const selectRecord = statement((values: Parameters<{ id: string }>) =>
  select(recordFields, sql`from ${admin_keys} where ${eq(admin_keys.public_id, values.id)}`),
)

/** Whether there is an admin key that is valid. */
export function* hasAdminKey(now: number): Script<boolean> {
  return (yield* selectValid({ now })).length > 0
}

const selectValid = statement((values: Parameters<{ now: number }>) => {
  const { public_id: id, revoked_at, expires_at } = admin_keys
  const isValid = and(isNull(revoked_at), or(isNull(expires_at), gt(expires_at, values.now)))
  return select({ id }, sql`from ${admin_keys} where ${isValid} limit 1`)
})

/** Finds an admin key for authentication. */
export function* findKnownAdminKey(id: string): Script<KnownAdminKey | undefined> {
  const [row] = yield* selectKnown({ id })
  return row && withPermissions(row)
}

const selectKnown = statement((values: Parameters<{ id: string }>) =>
  select(
    { ...recordFields, secretHash: secret_hash },
    sql`from ${admin_keys} where ${eq(admin_keys.public_id, values.id)}`,
  ),
)
