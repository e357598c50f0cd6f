import { formatUsd } from '../../lib/usd.ts'
import { renderOrganization, type WithBudget } from '../../http/render-accounts.ts'
import type { OrganizationAccount } from '../../storage/ports/accounts.ts'
import type { CliContext } from '../context.ts'
import { detailText, fittingTable, rightColumn } from '../output.ts'
import { budgetCell, limitCell, limitRows, modelsCell, timeCell } from './limits-output.ts'

type OrganizationWithBudget = WithBudget<OrganizationAccount>

/** Returns an organization as `--json` prints it. */
export function organizationJson({ account, state }: OrganizationWithBudget) {
  return renderOrganization(account, state)
}

/** Formats organizations as a table that fits the terminal. */
export function organizationTable(
  organizations: readonly OrganizationWithBudget[],
  { terminal }: CliContext,
): string {
  return fittingTable(
    organizations,
    [
      { title: 'NAME', value: ({ account }) => account.name },
      { title: 'ID', value: ({ account }) => account.id },
      { title: 'BILLING', value: ({ account }) => account.billing },
      rightColumn('BALANCE USD', ({ account }) => formatUsd(account.balance)),
      { title: 'BUDGET LEFT', value: ({ account, state }) => budgetCell(account.limits, state) },
      rightColumn('REQUESTS/MIN', ({ account }) => limitCell(account.limits.requestsPerMinute, 'default'), 2),
      rightColumn('TOKENS/MIN', ({ account }) => limitCell(account.limits.tokensPerMinute, 'default'), 2),
      rightColumn('CONCURRENT', ({ account }) => limitCell(account.limits.concurrentRequests, 'default'), 2),
      { title: 'MODELS', value: ({ account }) => modelsCell(account.limits), dropOrder: 3 },
      { title: 'STATE', value: ({ account }) => stateText(account) },
      { title: 'CREATED', value: ({ account }) => timeCell(account.createdAt).slice(0, 10), dropOrder: 1 },
    ],
    terminal?.size().columns,
  )
}

/** Formats all properties of an organization, a line each. */
export function organizationDetails({ account, state }: OrganizationWithBudget): string {
  const { name, id, billing, balance, reserved, limits, createdAt } = account
  return detailText([
    ['Name', name],
    ['ID', id],
    ['State', stateText(account)],
    ['Billing', billing],
    ['Balance', `${formatUsd(balance)} USD`],
    ['  reserved', reserved === 0n ? undefined : `${formatUsd(reserved)} USD by open requests`],
    ...limitRows(limits, state, 'default'),
    ['Created', timeCell(createdAt)],
  ])
}

function stateText({ limits }: OrganizationAccount): string {
  return limits.enabled ? 'active' : 'disabled'
}
