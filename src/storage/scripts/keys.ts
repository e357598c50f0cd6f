import { eq, isNull, sql } from 'drizzle-orm'
import { noLimits } from '../../domain/accounting/allowance.ts'
import { type ApiKey, createApiKey, hashSecret, printApiKey } from '../../domain/accounting/api-key.ts'
import { Secret } from '../../lib/secret.ts'
import { assertOwnBudget, ownerOfActive, renewedExpiry } from '../common/account-rules.ts'
import type {
  KeyChange,
  KeyInput,
  KeyQueries,
  KeyRecord,
  Keys,
  NewKey,
  OrganizationAccount,
} from '../ports/accounts.ts'
import type { AuditEvent, AuditFields } from '../ports/audit.ts'
import { api_keys } from '../schema/organizations.ts'
import { type Inserted, insertion, pick, returning, update } from '../sql.ts'
import { type Parameters, type Script, type ScriptRunner, statement } from '../statement.ts'
import { allowanceColumns, changedAllowance } from './allowance.ts'
import { type Change, recordChange } from './audit.ts'
import { keyValues } from './audit-fields.ts'
import { keyWithId, lockKey } from './key-records.ts'
import { caughtUp, followContentLog, lockWithParent } from './minted-content-log.ts'
import { accountNamed } from './organizations.ts'
import { existingProject } from './projects.ts'

/** The changes of an actor, but for keys that keys create. */
export function createKeyChanges(
  { transact }: ScriptRunner,
  by: () => Change,
): Omit<Keys, keyof KeyQueries | 'mint'> {
  return {
    create: (input) => transact(() => createKey(input, by())),
    change: (id, change) => transact(() => changeKey(id, change, by())),
    revoke: (id) => transact(() => revokeKey(id, by())),
    rotate: (id, grace) => transact(() => rotateKey(id, grace, by())),
  }
}

/** What a key has from the one that created or replaced it. */
type Origin = { readonly parent?: string; readonly limitsId?: string; readonly key?: ApiKey }

/** Creates a key, random unless one is passed; throws an error for the operator if its organization does not exist. */
export function* createKey(input: KeyInput, by: Change, origin: Origin = {}): Script<NewKey> {
  const created = yield* addKey(input, by.now, origin)
  yield* recordKey('api_key.created', created.record, null, by)
  return created
}

/** Part of a transaction: writes the entry of a change. */
function recordKey(event: AuditEvent, key: KeyRecord, before: AuditFields | null, by: Change): Script<void> {
  const { id, name, organizationId, organization, project } = key
  return recordChange(by, {
    event,
    resource: { type: 'api_key', id, name },
    organization: { id: organizationId, name: organization },
    projectId: project?.id ?? null,
    before,
    after: keyValues(key),
  })
}

function* addKey(
  input: KeyInput,
  now: number,
  { parent, limitsId, key = createApiKey() }: Origin,
): Script<NewKey> {
  const organization = yield* accountNamed(input.organization)
  const properties = yield* changedProperties(organization, noProperties, input)
  yield* insertKey({
    ...properties,
    public_id: key.publicId,
    organization_id: organization.id,
    secret_hash: hashSecret(key.secret),
    last4: key.secret.slice(-4),
    parent_id: parent ?? null,
    limits_id: limitsId ?? null,
    created_at: input.createdAt ?? now,
  })
  return { record: yield* keyWithId(key.publicId), key: new Secret(printApiKey(key)) }
}

const noProperties = {
  name: '',
  project: null,
  expiresAt: null,
  limits: noLimits,
  permissions: [],
  tags: [],
  note: null,
  contentLog: false,
} as const

type Properties = Pick<KeyRecord, Exclude<keyof typeof noProperties, 'project'>> & {
  readonly project: { readonly id: string } | null
}

/** The columns of a key that can be changed. */
const propertyColumns = [
  ...allowanceColumns,
  'name',
  'project_id',
  'expires_at',
  'permissions',
  'tags',
  'note',
  'content_log',
] as const

type PropertyRow = Inserted<typeof api_keys, (typeof propertyColumns)[number]>

/** Returns the columns after a change; throws an error for the operator if it is not valid. */
function* changedProperties(
  organization: Pick<OrganizationAccount, 'id'>,
  current: Properties,
  change: KeyChange,
): Script<PropertyRow> {
  const project = change.project === undefined ? (current.project?.id ?? null) : change.project
  if (change.project) yield* existingProject(organization.id, change.project)
  return {
    ...changedAllowance(current.limits, change),
    name: change.name ?? current.name,
    project_id: project,
    expires_at: change.expiresAt === undefined ? current.expiresAt : change.expiresAt,
    permissions: JSON.stringify(change.permissions ?? current.permissions),
    tags: JSON.stringify(change.tags ?? current.tags),
    note: change.note === undefined ? current.note : change.note,
    content_log: change.contentLog ?? current.contentLog,
  }
}

const insertKey = insertion(api_keys, [
  ...propertyColumns,
  'public_id',
  'organization_id',
  'secret_hash',
  'last4',
  'created_at',
  'parent_id',
  'limits_id',
])

/** Changes the properties that the change names. */
function* changeKey(id: string, change: KeyChange, by: Change): Script<KeyRecord> {
  const key = yield* lockWithParent(id)
  if (changesBudget(change)) assertOwnBudget(key)
  const current = yield* caughtUp(key, change, by.now)
  yield* updateKey({ id, ...(yield* changedProperties({ id: key.organizationId }, key, current)) })
  const changed = yield* keyWithId(id)
  yield* recordKey('api_key.updated', changed, keyValues(key), by)
  const { contentLog } = changed
  if (contentLog === key.contentLog) return changed
  for (const minted of yield* followContentLog(id, contentLog, by.now)) {
    const before = keyValues({ ...minted, contentLog: !contentLog })
    yield* recordKey('api_key.updated', minted, before, by)
  }
  return changed
}

function changesBudget({ budget, budgetPeriod }: KeyChange): boolean {
  return budget !== undefined || budgetPeriod !== undefined
}

const updateKey = statement((values: Parameters<PropertyRow & { id: string }>) =>
  update(api_keys, pick(values, propertyColumns), sql`where ${eq(api_keys.public_id, values.id)}`),
)

/** Revokes a key and those that it has created; one that is revoked stays so since then. */
function* revokeKey(id: string, by: Change): Script<KeyRecord> {
  yield* lockKey({ id })
  for (const revoked of yield* setRevoked({ id, now: by.now })) {
    const key = yield* keyWithId(revoked.id)
    yield* recordKey('api_key.deleted', key, keyValues({ ...key, revokedAt: null }), by)
  }
  return yield* keyWithId(id)
}

const setRevoked = statement((values: Parameters<{ id: string; now: number }>) =>
  update(
    api_keys,
    { revoked_at: values.now },
    returning(
      { id: api_keys.public_id },
      sql`where (${eq(api_keys.public_id, values.id)} or ${eq(api_keys.parent_id, values.id)})
        and ${isNull(api_keys.revoked_at)}`,
    ),
  ),
)

/**
 * Creates a key with the same properties and lifetime as the one with this id, which goes on working for `grace`
 * milliseconds. Both spend one budget.
 */
export function* rotateKey(id: string, grace: number, by: Change): Script<NewKey> {
  const { now } = by
  // Two rotations at once must not both create a key.
  yield* lockKey({ id })
  const old = yield* keyWithId(id)
  const organization = ownerOfActive(old, now)
  const { name, limits, permissions, tags, note, contentLog, project } = old
  const properties = { name, ...limits, permissions, tags, note, contentLog, project: project?.id ?? null }
  const input = { ...properties, organization, expiresAt: renewedExpiry(old, now) }
  const replacement = yield* addKey(input, now, { limitsId: old.limitsId })
  const until = old.expiresAt === null ? now + grace : Math.min(now + grace, old.expiresAt)
  yield* expireKey({ id, until, replacedBy: replacement.record.id })
  yield* recordKey('api_key.rotated', yield* keyWithId(id), keyValues(old), by)
  yield* recordKey('api_key.created', replacement.record, null, by)
  return replacement
}

const expireKey = statement((values: Parameters<{ id: string; until: number; replacedBy: string }>) =>
  update(
    api_keys,
    { expires_at: values.until, replaced_by: values.replacedBy },
    sql`where ${eq(api_keys.public_id, values.id)}`,
  ),
)
