import { badRequest } from '../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import { causeOf, type Log } from '../../lib/log.ts'
import { formatUsd, parseUsd } from '../../lib/usd.ts'
import type { OrganizationAccount, OrganizationChange, Organizations } from '../../storage/ports/accounts.ts'
import type { ManagedStores, PendingDeletions } from '../../storage/ports/storage.ts'
import { type ChangeDependencies, createChanges } from './changes.ts'

/** The dependencies of the management of organizations. */
export type OrganizationServiceDependencies = ChangeDependencies & {
  readonly managed: ManagedStores
  readonly pendingDeletions: PendingDeletions
}

/** The changes that the operator makes to organizations, which are named by their id or their name. See `MakeChange`. */
export type OrganizationService = ReturnType<typeof createOrganizationService>

export function createOrganizationService(parts: OrganizationServiceDependencies) {
  const { organizations } = parts.managed
  const change = createChanges(parts)
  const find = (reference: string) => findOrganization(organizations, reference)
  return {
    page: organizations.page,
    find,
    create: (name: string, settings: OrganizationChange) =>
      change(
        'organization.create',
        async () => {
          const created = await organizations.create(name)
          return isEmpty(settings) ? created : organizations.change(name, settings)
        },
        ({ id }) => ({ organization: id, name, ...loggedSettings(settings) }),
      ),
    change: (reference: string, settings: OrganizationChange) =>
      change(
        'organization.change',
        async () => organizations.change((await find(reference)).name, settings),
        ({ id, name }) => ({ organization: id, name, ...loggedSettings(settings) }),
      ),
    credit: (reference: string, usd: string, note: string | undefined) =>
      change(
        'organization.credit',
        async () => organizations.credit((await find(reference)).name, amountOf(usd), note),
        ({ id, name }) => ({ organization: id, name, usd }),
      ),
    async delete(reference: string): Promise<OrganizationAccount> {
      const deleted = await change(
        'organization.delete',
        async () => organizations.beginDeletion((await find(reference)).name),
        ({ id, name }) => ({ organization: id, name }),
      )
      void continueDeletions(parts)
      return deleted
    },
  }
}

/** Finds an organization by its id or its name; throws 404. */
export async function findOrganization(
  organizations: Pick<Organizations, 'find'>,
  reference: string,
): Promise<OrganizationAccount> {
  const account = await organizations.find(reference)
  if (account === undefined)
    throw adminObjectNotFound(`There is no organization '${reference.slice(0, 100)}'.`)
  return account
}

/** The changed settings for the log, with a budget in USD. */
function loggedSettings({ budget, models, ...others }: OrganizationChange) {
  const usd = budget == null ? budget : formatUsd(budget)
  return { ...others, budget: usd, models: models == null ? models : models.join(' ') }
}

function isEmpty(settings: OrganizationChange): boolean {
  return Object.values(settings).every((value) => value === undefined)
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

/** Returns an organization as the admin API returns it, and the command line prints it with `--json`. */
export function organizationJson(account: OrganizationAccount) {
  const { id, name, billing, balance, reserved, limits, createdAt } = account
  return {
    id,
    name,
    billing,
    balance_usd: formatUsd(balance),
    reserved_usd: formatUsd(reserved),
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent_requests: limits.concurrentRequests,
    created_at: new Date(createdAt).toISOString(),
  }
}
