import { missing } from '../common/account-rules.ts'
import type { AccountImport, NewKey } from '../ports/accounts.ts'
import type { Actor, FileChange } from '../ports/audit.ts'
import type { Managed, ManagedStores, Records } from '../ports/storage.ts'
import type { Script, ScriptRunner } from '../statement.ts'
import { createAdminKeys } from './admin-keys.ts'
import { type Change, createAuditLog, recordChange } from './audit.ts'
import { createBudgetQueries, createBudgets } from './budgets.ts'
import { readContent } from './content-log.ts'
import { createKeyQueries } from './key-records.ts'
import { createKey, createKeyChanges } from './keys.ts'
import { createLedgerEntries } from './ledger-entries.ts'
import { createAllocationReturns, mintKey } from './minted-keys.ts'
import { createOrganizations } from './organization-changes.ts'
import { accountNamed, createOrganizationQueries } from './organizations.ts'
import { createProject, createProjectQueries, createProjects, idOfProject } from './projects.ts'
import { createRequestHistory } from './requests.ts'
import { createDeliveryRetries } from './webhook-deliveries.ts'
import { createWebhookQueue } from './webhooks.ts'

/** The stores of all that operators and organizations manage. */
export function createManaged(runner: ScriptRunner): Managed {
  return {
    ...createRecords(runner),
    organizations: createOrganizationQueries(runner),
    projects: createProjectQueries(runner),
    keys: { ...createKeyQueries(runner), ...createAllocationReturns(runner) },
    budgets: createBudgetQueries(runner),
    webhooks: createWebhookQueue(runner),
    by: (actor) => createManagedStores(runner, actor),
  }
}

/** The same with the changes of an actor. `now` returns milliseconds since 1970. */
export function createManagedStores(
  runner: ScriptRunner,
  actor: Actor,
  now: () => number = Date.now,
): ManagedStores {
  const by = () => ({ actor, now: now() })
  return {
    ...createRecords(runner),
    organizations: createOrganizations(runner, by),
    projects: createProjects(runner, by),
    keys: {
      ...createKeyQueries(runner, now),
      ...createAllocationReturns(runner, now),
      ...createKeyChanges(runner, by),
      mint: (parentId, input) => runner.transact(() => mintKey(parentId, input, by())),
    },
    adminKeys: createAdminKeys(runner, by),
    budgets: createBudgets(runner, actor),
    webhooks: { ...createWebhookQueue(runner, now), ...createDeliveryRetries(runner, by) },
    readContent: (id) => runner.transact(() => readContent(id, { actor })),
    recordFileChange: (change) => runner.transact(() => recordFileChange(change, actor)),
    importAccounts: (accounts) => runner.transact(() => importAccounts(accounts, by())),
  }
}

function createRecords(runner: ScriptRunner): Records {
  return {
    requests: createRequestHistory(runner),
    audit: createAuditLog(runner),
    ledgerEntries: createLedgerEntries(runner),
  }
}

function recordFileChange({ event, ...values }: FileChange, actor: Actor): Script<void> {
  const type = event === 'settings.reloaded' ? 'settings' : 'catalog'
  return recordChange({ actor }, { event, resource: { type, id: null, name: null }, ...values })
}

/** Creates projects and keys in one transaction; throws an error for the operator if one is not valid. */
function* importAccounts(
  { organization, projects, keys }: AccountImport,
  by: Change,
): Script<readonly NewKey[]> {
  const { id: organizationId } = yield* accountNamed(organization)
  for (const project of projects)
    if ((yield* idOfProject(organizationId, project.name)) === undefined)
      yield* createProject({ ...project, organization }, by)
  const created: NewKey[] = []
  for (const { project: name, ...key } of keys) {
    const project = name === null ? null : yield* idOfProject(organizationId, name)
    if (project === undefined) throw missing(`project ${name}`, 'projects', 'projects')
    created.push(yield* createKey({ ...key, organization, project }, by))
  }
  return created
}
