import { loggedLimits } from '../../../http/limits.ts'
import { type WithBudget, withBudgets } from '../../../http/render-accounts.ts'
import { renderLimits } from '../../../http/render-limits.ts'
import { adminObjectNotFound } from '../../../lib/errors/http-errors.ts'
import type { KeyChange, KeyInput, KeyPageQuery, KeyRecord, NewKey } from '../../../storage/ports/accounts.ts'
import type { ManagementDependencies } from './own-projects.ts'
import { createOwnChanges, type Manager, secondsOf, secondsOrNull } from './permission.ts'

/** The keys that an endpoint is for: those of a project, or those with the permission `admin`. */
export type KeyScope = { readonly projectId: string } | { readonly permission: 'admin' }

/** The keys of the organization of a key, by the scope of the endpoint. One outside of it, or a revoked one, does not exist: 404. */
export type OwnKeys = ReturnType<typeof createOwnKeys>

export function createOwnKeys(parts: ManagementDependencies) {
  const { keys, budgets } = parts.managed
  const change = createOwnChanges(parts)

  async function find({ organization }: Manager, scope: KeyScope, id: string): Promise<KeyRecord> {
    const key = await keys.find(id)
    const isOwn = key?.organizationId === organization.id && key.revokedAt === null && isWithin(key, scope)
    if (isOwn) return key
    throw adminObjectNotFound(`There is no API key with the ID '${id.slice(0, 100)}' here.`)
  }

  return {
    find,
    page: ({ organization }: Manager, scope: KeyScope, query: KeyPageQuery) =>
      keys.page({ ...query, ...scope, organizationId: organization.id, unrevoked: true }),
    create: (manager: Manager, { name, expiresAt, createdAt, ...properties }: NewOwnKey) =>
      change(
        manager,
        'key.create',
        ({ keys }) =>
          keys.create({ name, expiresAt, createdAt, ...properties, organization: manager.organization.name }),
        ({ record }) => ({ key: record.id, name, ...loggedProperties({ expiresAt, ...properties }) }),
      ),
    change: (manager: Manager, scope: KeyScope, id: string, properties: KeyChange) =>
      change(
        manager,
        'key.change',
        async ({ keys }) => keys.change((await find(manager, scope, id)).id, properties),
        ({ name }) => ({ key: id, name, ...loggedProperties(properties) }),
      ),
    revoke: (manager: Manager, scope: KeyScope, id: string) =>
      change(
        manager,
        'key.revoke',
        async ({ keys }) => keys.revoke((await find(manager, scope, id)).id),
        ({ name }) => ({ key: id, name }),
      ),
    withBudgets: (records: readonly KeyRecord[]) => withBudgets(budgets, records, Date.now()),
  }
}

/** The properties of a new key. */
type NewOwnKey = Omit<KeyInput, 'organization'>

function isWithin(key: KeyRecord, scope: KeyScope): boolean {
  if ('projectId' in scope) return key.project?.id === scope.projectId
  return key.permissions.includes(scope.permission)
}

function loggedProperties({ project, expiresAt, permissions, ...limits }: KeyChange) {
  return {
    project,
    expiresAt: expiresAt == null ? expiresAt : new Date(expiresAt).toISOString(),
    permissions: permissions?.join(' '),
    ...loggedLimits(limits),
  }
}

/** A key as lists show it, without its secret. */
export function redacted({ id, last4 }: KeyRecord): string {
  return `sk-weir-${id}-...${last4}`
}

/** Returns when a key expires that lives for these seconds from `now` on, in milliseconds since 1970; null for never. */
export function expiryAfter(seconds: number | null | undefined, now: number): number | null {
  return seconds == null ? null : now + seconds * 1000
}

/** Renders a key of a project as OpenAI's API has it, with Weir's limits. `now` is milliseconds since 1970. */
export function renderProjectKey({ account, state }: WithBudget<KeyRecord>, now: number) {
  const { id, name, createdAt, expiresAt, limits } = account
  const isActive = limits.enabled && (expiresAt === null || expiresAt > now)
  const owner = { id, name, created_at: secondsOf(createdAt), role: 'member' }
  return {
    object: 'organization.project.api_key',
    id,
    name,
    created_at: secondsOf(createdAt),
    expires_at: secondsOrNull(expiresAt),
    last_used_at: null,
    redacted_value: redacted(account),
    content_log: account.contentLog,
    owner: { type: 'service_account', service_account: owner },
    owner_project_access: isActive ? 'active' : 'inactive',
    ...renderLimits(limits, state),
  }
}

/** Renders a key as a service account: OpenAI's API creates the keys of programs in this way. */
export function renderServiceAccount({ id, name, createdAt }: KeyRecord) {
  return {
    object: 'organization.project.service_account',
    id,
    name,
    role: 'member',
    created_at: secondsOf(createdAt),
  }
}

/** Renders a new service account with its key, which is shown only once. */
export function renderNewServiceAccount({ record, key }: NewKey) {
  const { id, name, createdAt, expiresAt } = record
  return {
    ...renderServiceAccount(record),
    api_key: {
      object: 'organization.project.service_account.api_key',
      id,
      name,
      value: key.reveal(),
      created_at: secondsOf(createdAt),
      expires_at: secondsOrNull(expiresAt),
    },
  }
}
