import type { ManagedStores } from '../ports/storage.ts'
import type { ScriptRunner } from '../statement.ts'
import { createAdminKeys } from './admin-keys.ts'
import { createBudgets } from './budgets.ts'
import { importAccounts } from './imported-accounts.ts'
import { createKeys } from './keys.ts'
import { createMintedKeys } from './minted-keys.ts'
import { createOrganizations } from './organizations.ts'
import { createProjects } from './projects.ts'
import { createWebhooks } from './webhooks.ts'
import { createRequestHistory } from './requests.ts'

/** The organizations of a database with all that operators change. `now` returns milliseconds since 1970. */
export function createManagedStores(runner: ScriptRunner, now: () => number = Date.now): ManagedStores {
  return {
    organizations: createOrganizations(runner, now),
    projects: createProjects(runner, now),
    keys: { ...createKeys(runner, now), ...createMintedKeys(runner, now) },
    adminKeys: createAdminKeys(runner, now),
    budgets: createBudgets(runner),
    webhooks: createWebhooks(runner, now),
    requests: createRequestHistory(runner),
    importAccounts: (accounts) => runner.transact(() => importAccounts(accounts, now())),
  }
}
