import { Type } from 'typebox'
import type { AllowanceOwner } from '../../domain/accounting/allowance.ts'
import type { MakeChange } from '../../http/changes.ts'
import { limitsOwner } from '../../http/render-accounts.ts'
import { currentBudget } from '../../http/render-limits.ts'
import { stringEnum } from '../../http/schema.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { formatUsd } from '../../lib/usd.ts'
import type { KeyRecord, OrganizationAccount, ProjectRecord } from '../../storage/ports/accounts.ts'
import type { Actor } from '../../storage/ports/audit.ts'
import type { Budgets } from '../../storage/ports/budgets.ts'

// What the routes of organizations, projects and keys share.

/** The message of the log for every change of the operator. */
export const adminChange = 'The admin API changed the gateway.'

/** The query parameter that selects what is near its end from a list; `which` says what that is. */
export function nearEndParameter(which: string) {
  const description = `Whether only ${which} are listed. Disabled ones, and those of a disabled owner, are not listed then.`
  return Type.Optional(stringEnum(['true', 'false'], { description }))
}

/** The time for which a request wants only what is near its end, in milliseconds since 1970; undefined if it wants all. */
export function nearEndTime(parameter: 'true' | 'false' | undefined): number | undefined {
  return parameter === 'true' ? Date.now() : undefined
}

/** Describes the route that releases what is held of a budget, but for its id, its path and its reply. */
export function heldDescription(owner: string) {
  return {
    summary: `Release what is held of the budget of ${owner}`,
    description:
      'Releases the held part of the budget of the current period: what requests of killed servers may have cost at their ' +
      'providers. Returns the object with its budget.',
    errors: [400],
  } as const
}

/**
 * Releases the held part of a budget in its current period, once the operator knows the bill of the
 * provider; returns its owner. Throws 400 for an owner without a budget.
 */
export async function releaseHeld<Account extends OrganizationAccount | ProjectRecord | KeyRecord>(
  change: MakeChange,
  actor: Actor,
  kind: AllowanceOwner,
  find: () => Promise<Account>,
): Promise<Account> {
  const { account } = await change(
    actor,
    `${kind}.release_held`,
    async ({ budgets }) => {
      const account = await find()
      return { account, released: await release(budgets, account) }
    },
    ({ account, released }) => ({ [kind]: account.id, name: account.name, usd: formatUsd(released) }),
  )
  return account
}

function release(budgets: Pick<Budgets, 'releaseHeld'>, account: Parameters<typeof limitsOwner>[0]) {
  const owner = limitsOwner(account)
  if (owner.limits.budget === null) throw badRequest(`${account.name} has no budget.`, 'invalid_value', null)
  return budgets.releaseHeld(owner.organizationId, currentBudget(owner, Date.now()))
}
