import { loggable } from '../../lib/text.ts'
import { formatUsd } from '../../lib/usd.ts'
import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { limitsOwner, withBudgets } from '../../http/render-accounts.ts'
import { currentBudget } from '../../http/render-limits.ts'
import type {
  KeyPageQuery,
  KeyRecord,
  OrganizationAccount,
  ProjectRecord,
} from '../../storage/ports/accounts.ts'
import type { ManagedStores } from '../../storage/ports/storage.ts'
import type { KeyDetails } from './key-output.ts'
import { readKeyStates } from './key-state.ts'
import type { CliContext } from '../context.ts'
import { CommandError } from '../errors.ts'

/** Returns the key; throws `CommandError` if there is none. */
export async function findKey({ keys }: Pick<ManagedStores, 'keys'>, id: string): Promise<KeyRecord> {
  const key = await keys.find(id)
  if (key !== undefined) return key
  throw new CommandError(`There is no API key with the ID ${id}. To list all API keys, run: weir keys list`)
}

/** Returns the organization; throws `CommandError` if there is none. */
export async function findOrganization(
  { organizations }: Pick<ManagedStores, 'organizations'>,
  name: string,
): Promise<OrganizationAccount> {
  const account = await organizations.find(name)
  if (account !== undefined) return account
  throw new CommandError(
    `There is no organization ${loggable(name)}. To list all organizations, run: weir orgs list`,
  )
}

/**
 * Returns the project with this id, or with this name in the organization, by default the one of commands that name none.
 * Throws `CommandError` if there is none.
 */
export async function findProject(
  { projects }: Pick<ManagedStores, 'projects'>,
  reference: string,
  organization: string | undefined,
): Promise<ProjectRecord> {
  const withId = reference.startsWith('proj_') ? await projects.find(reference) : undefined
  if (withId !== undefined && (organization ?? withId.organization) === withId.organization) return withId
  const owner = organization ?? defaultOrganization
  const named = (await projects.list(owner)).find(({ name }) => name === reference)
  if (named !== undefined) return named
  throw new CommandError(
    `There is no project ${reference} in the organization ${owner}. To list all projects, run: weir projects list`,
  )
}

const pageSize = 1000

/** Returns all keys of an organization or of a project. */
export async function listKeys(
  { keys }: Pick<ManagedStores, 'keys'>,
  filter: Pick<KeyPageQuery, 'organizationId' | 'projectId'>,
): Promise<readonly KeyRecord[]> {
  const found: KeyRecord[] = []
  for (let hasMore = true; hasMore;) {
    const page = await keys.page({ ...filter, after: found.at(-1)?.id, limit: pageSize, order: 'asc' })
    found.push(...(page?.items ?? []))
    hasMore = page?.hasMore === true
  }
  return found
}

/** Reads what is left of the budgets of keys, their states, and when they were last used. */
export async function withUse(
  storage: Pick<ManagedStores, 'budgets' | 'keys' | 'organizations' | 'projects'>,
  records: readonly KeyRecord[],
  now: number,
): Promise<readonly KeyDetails[]> {
  const used = await storage.keys.lastUses([...new Set(records.map(({ organizationId }) => organizationId))])
  const stateOf = await readKeyStates(storage, records, now)
  const withState = await withBudgets(storage.budgets, records, now)
  return withState.map((key) => {
    const { account } = key
    return { ...key, validity: stateOf(account), lastUsedAt: used.get(account.id) }
  })
}

/** Releases what is held of a budget in its current period, and prints the amount on standard error. */
export async function releaseHeld(
  { budgets }: Pick<ManagedStores, 'budgets'>,
  account: OrganizationAccount | ProjectRecord | KeyRecord,
  context: CliContext,
): Promise<void> {
  const owner = limitsOwner(account)
  const released = await budgets.releaseHeld(owner.organizationId, currentBudget(owner, Date.now()))
  context.err(`Released ${formatUsd(released)} USD of the budget of ${account.name}.`)
}
