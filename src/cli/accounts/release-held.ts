import { formatUsd } from '../../lib/usd.ts'
import { limitsOwner } from '../../http/render-accounts.ts'
import { currentBudget } from '../../http/render-limits.ts'
import type { KeyRecord, OrganizationAccount, ProjectRecord } from '../../storage/ports/accounts.ts'
import type { ManagedStores } from '../../storage/ports/storage.ts'
import type { CliContext } from '../context.ts'

/** The flag that releases what is held of a budget. */
export const releaseHeldFlag = { 'release-held': 'switch' } as const

/** The lines of a help text about it. */
export const releaseHeldHelp = `  --release-held                 release what is held of the budget: the reservations of requests that
                                 a killed server had open, which the provider may have charged`

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
