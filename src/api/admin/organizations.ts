import { type ChangeDependencies, createChanges } from '../../http/changes.ts'
import { loggedLimits } from '../../http/limits.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { parseUsd } from '../../lib/usd.ts'
import { createAccountRenderer, renderOrganization } from '../../http/render-accounts.ts'
import type {
  OrganizationAccount,
  OrganizationChange,
  OrganizationQueries,
} from '../../storage/ports/accounts.ts'
import type { Actor } from '../../storage/ports/audit.ts'
import type { PendingDeletions } from '../../storage/ports/storage.ts'
import { adminChange, releaseHeld } from './accounts.ts'

/** The dependencies of the management of organizations. */
export type OrganizationServiceDependencies = ChangeDependencies & {
  readonly pendingDeletions: PendingDeletions
}

/** The changes that the operator makes to organizations, which are named by their id or their name. See `MakeChange`. */
export type OrganizationService = ReturnType<typeof createOrganizationService>

export function createOrganizationService(parts: OrganizationServiceDependencies) {
  const { organizations, budgets } = parts.managed
  const change = createChanges(parts, adminChange)
  const find = (reference: string) => findOrganization(organizations, reference)
  return {
    page: organizations.page,
    ...createBalanceChanges(parts),
    render: createAccountRenderer(budgets, 'organization', renderOrganization),
    find,
    create: (by: Actor, name: string, settings: OrganizationChange) =>
      change(
        by,
        'organization.create',
        ({ organizations }) => organizations.create(name, settings),
        ({ id }) => ({ organization: id, name, ...loggedSettings(settings) }),
      ),
    change: (by: Actor, reference: string, settings: OrganizationChange) =>
      change(
        by,
        'organization.change',
        async ({ organizations }) => organizations.change((await find(reference)).name, settings),
        ({ id, name }) => ({ organization: id, name, ...loggedSettings(settings) }),
      ),
    delete: (by: Actor, reference: string) =>
      change(
        by,
        'organization.delete',
        async ({ organizations }) => {
          const deleted = await organizations.beginDeletion((await find(reference)).name)
          void continueDeletions(parts)
          return deleted
        },
        ({ id, name }) => ({ organization: id, name }),
      ),
  }
}

function createBalanceChanges(parts: ChangeDependencies) {
  const find = (reference: string) => findOrganization(parts.managed.organizations, reference)
  const change = createChanges(parts, adminChange)
  return {
    credit: (by: Actor, reference: string, usd: string, note: string | undefined) =>
      change(
        by,
        'organization.credit',
        async ({ organizations }) => organizations.credit((await find(reference)).name, amountOf(usd), note),
        ({ id, name }) => ({ organization: id, name, usd }),
      ),
    releaseHeld: (by: Actor, reference: string) =>
      releaseHeld(change, by, 'organization', () => find(reference)),
  }
}

/** Finds an organization by its id or its name; throws 404. */
export async function findOrganization(
  organizations: Pick<OrganizationQueries, 'find'>,
  reference: string,
): Promise<OrganizationAccount> {
  const account = await organizations.find(reference)
  if (account === undefined)
    throw adminObjectNotFound(`There is no organization '${reference.slice(0, 100)}'.`)
  return account
}

function loggedSettings({ billing, ...limits }: OrganizationChange) {
  return { billing, ...loggedLimits(limits) }
}

type DeletionDependencies = { readonly pendingDeletions: PendingDeletions; readonly log: Log }

/** The rest of a deletion, in small steps; what fails is repeated with the deletion of expired data. */
async function continueDeletions({ pendingDeletions, log }: DeletionDependencies): Promise<void> {
  try {
    while ((await pendingDeletions.continue()) > 0) await Bun.sleep(stepIntervalMs)
  } catch (error) {
    log.warn('The deletion of an organization was interrupted and will be continued.', {
      cause: causeOf(error),
    })
  }
}

/** The time between two steps, in which requests can write. */
const stepIntervalMs = 5

function amountOf(usd: string): bigint {
  const amount = parseUsd(usd)
  if (amount !== undefined) return amount
  throw badRequest(
    "Invalid 'amount': must be an amount of USD such as 25 or 12.50, with at most nine decimals.",
    'invalid_value',
    'amount',
  )
}
