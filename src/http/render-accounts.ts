import { formatUsd } from '../lib/usd.ts'
import { isoTimeOrNull } from '../lib/time.ts'
import type { KeyRecord, OrganizationAccount, ProjectRecord } from '../storage/ports/accounts.ts'
import type { Budgets } from '../storage/ports/budgets.ts'
import { type BudgetState, type LimitsOwner, readBudgetStates, renderLimits } from './render-limits.ts'

/** Returns an organization as the admin API returns it, and the command line prints it with `--json`. */
export function renderOrganization({ account, state }: WithBudget<OrganizationAccount>) {
  const { id, name, billing, balance, reserved, limits, createdAt } = account
  return {
    id,
    name,
    billing,
    balance_usd: formatUsd(balance),
    reserved_usd: formatUsd(reserved),
    ...renderLimits(limits, state),
    created_at: new Date(createdAt).toISOString(),
  }
}

/** Returns a project as the admin API returns it, and the command line prints it with `--json`. */
export function renderProject({ account, state }: WithBudget<ProjectRecord>) {
  const { id, name, organization, limits, createdAt, deletedAt } = account
  return {
    id,
    name,
    organization,
    ...renderLimits(limits, state),
    created_at: new Date(createdAt).toISOString(),
    deleted_at: isoTimeOrNull(deletedAt),
  }
}

/** Returns a key without its secret, as the admin API returns it, and the command line prints it with `--json`. */
export function renderKey({ account: key, state }: WithBudget<KeyRecord>) {
  const { id, name, organization, project, parent, limits, permissions, tags, note, last4 } = key
  return {
    id,
    name,
    organization,
    project,
    parent,
    ...renderLimits(limits, state),
    permissions,
    tags,
    note,
    content_log: key.contentLog,
    last4,
    created_at: new Date(key.createdAt).toISOString(),
    expires_at: isoTimeOrNull(key.expiresAt),
    revoked_at: isoTimeOrNull(key.revokedAt),
    replaced_by: key.replacedBy,
  }
}

/** An object with what is left of its budget; undefined for one without a budget. */
export type WithBudget<Account> = { readonly account: Account; readonly state: BudgetState | undefined }

type Account = OrganizationAccount | ProjectRecord | KeyRecord

/** Reads what is left of the budgets of these organizations, projects or keys at this time, in their order. */
export async function withBudgets<Kind extends Account>(
  budgets: Pick<Budgets, 'read'>,
  accounts: readonly Kind[],
  now: number,
): Promise<readonly WithBudget<Kind>[]> {
  const states = await readBudgetStates(budgets, accounts.map(limitsOwner), now)
  return accounts.map((account, index) => ({ account, state: states[index] }))
}

/** Reads what is left of the budget of one organization, project or key now. */
export async function withBudget<Kind extends Account>(
  { budgets }: { readonly budgets: Pick<Budgets, 'read'> },
  found: Kind | Promise<Kind>,
): Promise<WithBudget<Kind>> {
  const account = await found
  const [withState] = await withBudgets(budgets, [account], Date.now())
  return withState ?? { account, state: undefined }
}

/** Returns a function that renders organizations, projects or keys as objects of this type, with what is left of their budgets. */
export function createAccountRenderer<Kind extends Account, Rendered extends object>(
  budgets: Pick<Budgets, 'read'>,
  object: string,
  render: (account: WithBudget<Kind>) => Rendered,
) {
  return async (accounts: readonly Kind[]) => {
    const found = await withBudgets(budgets, accounts, Date.now())
    return found.map((account) => ({ object, ...render(account) }))
  }
}

/** Renders the only one that was found or changed. */
export async function renderOne<Kind extends Account, Rendered>(
  { render }: { render(accounts: readonly Kind[]): Promise<readonly Rendered[]> },
  account: Promise<Kind>,
): Promise<Rendered | undefined> {
  const [rendered] = await render([await account])
  return rendered
}

/** Returns the owner of the budget of an organization, a project or a key. */
export function limitsOwner(account: Account): LimitsOwner {
  const { id, limits } = account
  if ('limitsId' in account)
    return { organizationId: account.organizationId, owner: account.limitsId, limits }
  return { organizationId: 'organizationId' in account ? account.organizationId : id, owner: id, limits }
}
