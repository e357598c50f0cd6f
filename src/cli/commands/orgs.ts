import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { billingModes } from '../../domain/accounting/organization.ts'
import { formatUsd, type Nanos, parseUsd } from '../../lib/usd.ts'
import { renderOrganization, type WithBudget, withBudget, withBudgets } from '../../http/render-accounts.ts'
import type { OrganizationAccount } from '../../storage/ports/accounts.ts'
import { findOrganization, releaseHeld } from '../accounts/find-account.ts'
import {
  assertChange,
  limitFlags,
  limitFlagsHelp,
  readChoice,
  readLimits,
  releaseHeldFlag,
  releaseHeldHelp,
} from '../accounts/limit-flags.ts'
import { ledger, ledgerFlagsHelp } from '../accounts/ledger.ts'
import { limitColumns, limitRows, timeCell } from '../accounts/limits-output.ts'
import { type Command, commonFlagsHelp, runSubcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { type Column, detailText, listText, rightColumn, withProgress } from '../output.ts'
import { storageCommand } from '../storage.ts'

const usage = `Usage
  weir orgs create NAME          create an organization with unmetered billing
  weir orgs list                 list all organizations with their balances and limits
  weir orgs show NAME            print all properties of an organization
  weir orgs set NAME [flags]     change the billing and the limits of an organization
  weir orgs rename NAME NEW      change the name of an organization; its API keys and data stay
  weir orgs credit NAME USD [--note TEXT]
                                 add USD to the balance; a negative amount subtracts
  weir orgs ledger NAME [--since 7d] [--until TIME] [--kind KIND] [--limit N] [--sum] [--csv]
                                 list what has changed the balance, the newest first
  weir orgs delete NAME --yes    delete an organization and all its data; requests with its API
                                 keys are rejected with 403

Creates and manages organizations. Each API key belongs to an organization, which has a balance,
limits, and stored completions and responses of its own. A balance is what was paid in advance, and
a budget is the most that may be spent in a period; each can be had without the other. The changes
apply to a running server within a second.

Flags of set
  --billing prepaid              requests are paid from the balance, and rejected if it is too low
  --billing unmetered            requests are recorded, and never rejected for their cost
  --billing none                 all requests are rejected
${limitFlagsHelp('organization')}
${releaseHeldHelp}

Flags of credit
  --note TEXT                    a note about the credit, such as an invoice number; default: none

${ledgerFlagsHelp}

Flags of delete
  --yes                          confirm the deletion

Examples
  weir orgs create acme
  weir orgs credit acme 12.50 --note "invoice 7"
  weir orgs set acme --billing prepaid --requests-per-minute 600
  weir orgs set acme --budget 500 --budget-period month
  weir orgs rename acme 'Acme Inc'
  weir orgs ledger acme --since 2026-11-01 --until 2026-12-01 --csv > november.csv

${commonFlagsHelp}`

/** `weir orgs`. */
export const command: Command = {
  usage,
  run: (args, context) =>
    runSubcommand('orgs', { create, list, show, set, rename, credit, ledger, delete: remove }, args, context),
}

const create = storageCommand('orgs create', { operands: ['NAME'] }, async (call) => {
  const [name] = call.operands
  const organization = await call.open('create', (storage) =>
    withBudget(storage, storage.organizations.create(name)),
  )
  call.print(
    renderOrganization(organization),
    `Created the organization ${name} (${organization.account.id}).`,
  )
})

const list = storageCommand('orgs list', {}, ({ context, open, print }) =>
  open('read', async ({ organizations, budgets, name }) => {
    const found = await withBudgets(budgets, await organizations.list(), Date.now())
    const none = `There are no organizations in ${name}.`
    print(found.map(renderOrganization), listText(found, columns, none, context))
  }),
)

const show = storageCommand(
  'orgs show',
  { operands: ['NAME'] },
  async ({ operands: [name], open, print }) => {
    const organization = await open('read', (storage) => withBudget(storage, findOrganization(storage, name)))
    print(renderOrganization(organization), organizationDetails(organization))
  },
)

const remove = storageCommand(
  'orgs delete',
  { flags: { yes: 'switch' }, operands: ['NAME'] },
  async ({ flags, operands: [name], context, open, print }) => {
    if (!flags.yes)
      throw new UsageError(`This deletes the organization ${name} and all its data. To confirm, add --yes.`)
    let rows = 0
    const progress = () => `Deleting the organization ${name}: ${rows.toLocaleString('en-US')} rows deleted.`
    const account = await open('write', ({ organizations }) => {
      const deletion = organizations.delete(name, (more) => (rows += more))
      return withProgress(deletion, context, flags.json, progress)
    })
    print(
      { ...renderOrganization({ account, state: undefined }), deleted: true },
      `Deleted the organization ${name}.`,
    )
  },
)

const changeFlags = { billing: 'text', ...limitFlags, ...releaseHeldFlag } as const

const set = storageCommand('orgs set', { flags: changeFlags, operands: ['NAME'] }, async (call) => {
  const { flags, context } = call
  const [name] = call.operands
  const change = {
    billing: readChoice(flags.billing, 'orgs', 'billing', billingModes),
    ...readLimits(flags, 'organization'),
  }
  const releases = flags['release-held']
  assertChange({ ...change, releases }, 'orgs set', changeFlags)
  const organization = await call.open('write', async (storage) => {
    const changed = await storage.organizations.change(name, change)
    if (releases) await releaseHeld(storage, changed, context)
    return withBudget(storage, changed)
  })
  call.print(renderOrganization(organization), organizationDetails(organization))
})

const rename = storageCommand('orgs rename', { operands: ['NAME', 'NEW'] }, async (call) => {
  const [name, newName] = call.operands
  const organization = await call.open('write', (storage) =>
    withBudget(storage, storage.organizations.change(name, { name: newName })),
  )
  call.print(renderOrganization(organization), `Renamed the organization ${name} to ${newName}.`)
  if (name === defaultOrganization && !call.flags.json)
    call.context.err(`Commands without --org use an organization named ${name}, which no longer exists.`)
})

const credit = storageCommand(
  'orgs credit',
  { flags: { note: 'text' }, operands: ['NAME', 'USD'] },
  async ({ flags, operands: [name, usd], context, open, print }) => {
    const amount = parseAmount(usd)
    const organization = await open('write', (storage) =>
      withBudget(storage, storage.organizations.credit(name, amount, flags.note)),
    )
    const { account } = organization
    print(renderOrganization(organization), `The balance of ${name} is ${formatUsd(account.balance)} USD.`)
    if (!flags.json) printBillingHint(account, context)
  },
)

function parseAmount(usd: string): Nanos {
  const amount = parseUsd(usd)
  if (amount === undefined)
    throw new UsageError(
      `USD must be an amount such as 25 or 12.50, with at most nine decimals, not “${usd}”.`,
      'orgs',
    )
  return amount
}

function printBillingHint({ name, billing }: OrganizationAccount, context: CliContext): void {
  if (billing === 'prepaid') return
  const command = `weir orgs set ${/^\S+$/.test(name) ? name : `'${name}'`} --billing prepaid`
  context.err(`The billing of ${name} is ${billing}. To pay for requests from the balance, run: ${command}`)
}

type OrganizationWithBudget = WithBudget<OrganizationAccount>

const columns: readonly Column<OrganizationWithBudget>[] = [
  { title: 'NAME', value: ({ account }) => account.name },
  { title: 'ID', value: ({ account }) => account.id },
  { title: 'BILLING', value: ({ account }) => account.billing },
  rightColumn('BALANCE USD', ({ account }) => formatUsd(account.balance)),
  ...limitColumns('default'),
  { title: 'STATE', value: ({ account }) => stateText(account) },
  { title: 'CREATED', value: ({ account }) => timeCell(account.createdAt).slice(0, 10), dropOrder: 1 },
]

/** Formats all properties of an organization, a line each. */
function organizationDetails({ account, state }: OrganizationWithBudget): string {
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
