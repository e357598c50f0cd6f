import { sql } from 'drizzle-orm'
import { noLimits } from '../../domain/accounting/allowance.ts'
import { adminPermissions, type KeyPermission } from '../../domain/accounting/organization.ts'
import { createApiKey } from '../../domain/accounting/api-key.ts'
import { defaultOrganization, parseBootstrapKey } from '../bootstrap-key.ts'
import type { KnownKey, KnownParent } from '../ports/known-keys.ts'
import type { Bootstrap, BootstrapInput } from '../ports/storage.ts'
import { api_keys, organizations, projects } from '../schema/organizations.ts'
import { type RowOf, select } from '../sql.ts'
import { type Parameters, type Script, statement } from '../statement.ts'
import { allowanceFields, textsOf, toAllowance } from './allowance.ts'
import { createAdminKey, hasAdminKey } from './admin-keys.ts'
import type { Change } from './audit.ts'
import { createKey } from './keys.ts'
import { addOrganization, recordCreated } from './organization-changes.ts'
import { exists, lockedAccount, organizationFields, toOrganization } from './organizations.ts'

/**
 * Creates the first key of a database, its organization if that is missing, and an admin key if it is to have one; nothing
 * in a database that has ever had a key. Throws if the configured key is not a valid one, even if it is not used.
 */
export function* bootstrap({ configured, admin, actor }: BootstrapInput, now: number): Script<Bootstrap> {
  const by = { actor, now }
  const key = configured ? parseBootstrapKey(configured) : createApiKey()
  if (!(yield* isFirstStart(by))) return { hasAdminKey: yield* hasAdminKey(now) }
  const input = { organization: defaultOrganization, name: 'first key', expiresAt: null }
  const apiKey = yield* createKey(input, by, { key })
  const hasOne = yield* hasAdminKey(now)
  if (!admin || hasOne) return { apiKey, hasAdminKey: hasOne }
  // Whoever starts a new database owns all that will be in it.
  const firstAdmin = { name: 'first admin key', expiresAt: null, permissions: adminPermissions }
  return { apiKey, adminKey: yield* createAdminKey(firstAdmin, by), hasAdminKey: true }
}

/** Whether the database has never had a key, which are never deleted. Then its first organization exists, and is locked. */
function* isFirstStart(by: Change): Script<boolean> {
  if ((yield* findAnyKey()).length > 0) return false
  const added = yield* addOrganization(defaultOrganization, by.now)
  const organization = yield* lockedAccount(defaultOrganization)
  if (organization === undefined) return false
  if (added) yield* recordCreated(organization, by)
  // Of two processes that start together, the second one waits for the lock, and finds the key of the first one.
  return (yield* findAnyKey()).length === 0
}

const findAnyKey = statement(() => select({ id: api_keys.public_id }, sql`from ${api_keys} limit 1`))

/** Finds a key for authentication, with all that limits it. */
export function* findKnownKey(publicId: string): Script<KnownKey | undefined> {
  const [row] = yield* selectKey({ id: publicId })
  if (row === undefined) return undefined
  const [owner] = yield* selectOwner({ id: row.organization })
  return {
    publicId,
    ...toValidity(row),
    name: row.name,
    secretHash: row.secretHash,
    limitsId: row.limitsId ?? publicId,
    limits: toAllowance(row),
    organization: owner === undefined ? null : toOrganization(owner),
    project: row.projectId === null ? null : yield* findProject(row.projectId),
    parent: row.parentId === null ? null : yield* findParent(row.parentId),
    permissions: textsOf(row.permissions) as readonly KeyPermission[],
    contentLog: Boolean(row.contentLog),
    hasCredit: (owner?.balance ?? 0) > 0,
  }
}

const validityFields = { expiresAt: api_keys.expires_at, revokedAt: api_keys.revoked_at }

function toValidity({ expiresAt, revokedAt }: RowOf<typeof validityFields>) {
  return { expiresAt, revokedAt }
}

const selectKey = statement((values: Parameters<{ id: string }>) =>
  select(
    {
      ...validityFields,
      ...allowanceFields(api_keys),
      name: api_keys.name,
      secretHash: api_keys.secret_hash,
      organization: api_keys.organization_id,
      projectId: api_keys.project_id,
      parentId: api_keys.parent_id,
      limitsId: api_keys.limits_id,
      permissions: api_keys.permissions,
      contentLog: api_keys.content_log,
    },
    sql`from ${api_keys} where ${api_keys.public_id} = ${values.id}`,
  ),
)

const selectOwner = statement((values: Parameters<{ id: string }>) =>
  select(
    { ...organizationFields, balance: organizations.balance },
    sql`from ${organizations} where ${organizations.id} = ${values.id} and ${exists}`,
  ),
)

/** The project of a key, which is never removed before the key. */
function* findProject(id: string): Script<KnownKey['project']> {
  const [row] = yield* selectProject({ id })
  if (row === undefined) return { id, name: '', limits: noLimits, isDeleted: true }
  return { id, name: row.name, limits: toAllowance(row), isDeleted: row.deletedAt !== null }
}

const selectProject = statement((values: Parameters<{ id: string }>) =>
  select(
    { ...allowanceFields(projects), name: projects.name, deletedAt: projects.deleted_at },
    sql`from ${projects} where ${projects.id} = ${values.id}`,
  ),
)

function* findParent(id: string): Script<KnownParent | null> {
  const [row] = yield* selectParent({ id })
  if (row === undefined) return null
  return { publicId: id, ...toValidity(row), limitsId: row.limitsId ?? id, limits: toAllowance(row) }
}

const selectParent = statement((values: Parameters<{ id: string }>) =>
  select(
    { ...validityFields, ...allowanceFields(api_keys), limitsId: api_keys.limits_id },
    sql`from ${api_keys} where ${api_keys.public_id} = ${values.id}`,
  ),
)
