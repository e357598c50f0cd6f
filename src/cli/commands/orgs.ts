import { type Command, commonFlagsHelp, parseFlags, runSubcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { organizationJson } from '../../api/admin/organizations.ts'
import { jsonText, rightColumn, table, withProgress } from '../output.ts'
import { withExistingStorage, withReadableStorage, withStorage } from '../storage.ts'
import type { OrganizationAccount, OrganizationChange } from '../../storage/ports/accounts.ts'
import { type BillingMode, billingModes } from '../../domain/accounting/organization.ts'
import { formatUsd, type Nanos, parseUsd } from '../../lib/usd.ts'

const usage = `Usage
  weir orgs create NAME          create an organization with unmetered billing
  weir orgs list                 list all organizations with their balances and limits
  weir orgs set NAME [flags]     change the billing and the limits of an organization
  weir orgs credit NAME USD [--note TEXT]
                                 add USD to the balance; a negative amount subtracts
  weir orgs delete NAME --yes    delete an organization and all its data; requests with its API
                                 keys are rejected with 403

Creates and manages organizations. Each API key belongs to an organization, which has a balance,
rate limits, and stored completions and responses of its own. The changes apply to a running
server within a second.

Flags of set
  --billing prepaid              requests are paid from the balance, and rejected if it is too low
  --billing unmetered            requests are recorded, and never rejected for their cost
  --billing none                 all requests are rejected
  --requests-per-minute N        the rate limits; “default” instead of N uses the limit of the
  --tokens-per-minute N          settings
  --concurrent-requests N

Flags of credit
  --note TEXT                    a note about the credit, such as an invoice number; default: none

Flags of delete
  --yes                          confirm the deletion

Examples
  weir orgs create acme
  weir orgs credit acme 12.50 --note "invoice 7"
  weir orgs set acme --billing prepaid --requests-per-minute 600

${commonFlagsHelp}`

/** `weir orgs`. */
export const command: Command = {
  usage,
  run: (args, context) => runSubcommand('orgs', { create, list, set, credit, delete: remove }, args, context),
}

async function create(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, { command: 'orgs create', flags: {}, operands: ['NAME'] })
  const [name = ''] = operands
  const account = await withStorage(flags, context, ({ organizations }) => organizations.create(name))
  const created = `Created the organization ${name} (${account.id}).`
  context.out(flags.json ? jsonText(organizationJson(account)) : created)
  return 0
}

async function list(args: readonly string[], context: CliContext): Promise<number> {
  const { flags } = parseFlags(args, { command: 'orgs list', flags: {} })
  return withReadableStorage(flags, context, async ({ organizations, name }) => {
    const accounts = await organizations.list()
    if (flags.json) context.out(jsonText(accounts.map(organizationJson)))
    else
      context.out(
        accounts.length > 0 ? organizationTable(accounts) : `There are no organizations in ${name}.`,
      )
    return 0
  })
}

async function remove(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'orgs delete',
    flags: { yes: 'switch' },
    operands: ['NAME'],
  })
  const [name = ''] = operands
  if (!flags.yes)
    throw new UsageError(`This deletes the organization ${name} and all its data. To confirm, add --yes.`)
  let rows = 0
  const account = await withExistingStorage(flags, context, ({ organizations }) =>
    withProgress(
      organizations.delete(name, (more) => (rows += more)),
      context,
      flags.json,
      () => `Deleting the organization ${name}: ${rows.toLocaleString('en-US')} rows deleted.`,
    ),
  )
  const deleted = { ...organizationJson(account), deleted: true }
  context.out(flags.json ? jsonText(deleted) : `Deleted the organization ${name}.`)
  return 0
}

const changeFlags = {
  billing: 'text',
  'requests-per-minute': 'text',
  'tokens-per-minute': 'text',
  'concurrent-requests': 'text',
} as const

/** `weir orgs set`. */
async function set(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'orgs set',
    flags: changeFlags,
    operands: ['NAME'],
  })
  const [name = ''] = operands
  const change = toChange(flags)
  const account = await withExistingStorage(flags, context, ({ organizations }) =>
    organizations.change(name, change),
  )
  context.out(flags.json ? jsonText(organizationJson(account)) : organizationTable([account]))
  return 0
}

function toChange(flags: { readonly [Name in keyof typeof changeFlags]?: string }): OrganizationChange {
  const names = Object.keys(changeFlags).map((name) => `--${name}`)
  const change = {
    billing: parseBilling(flags.billing),
    requestsPerMinute: parseLimit('--requests-per-minute', flags['requests-per-minute']),
    tokensPerMinute: parseLimit('--tokens-per-minute', flags['tokens-per-minute']),
    concurrentRequests: parseLimit('--concurrent-requests', flags['concurrent-requests']),
  }
  if (Object.values(change).every((value) => value === undefined))
    throw new UsageError(
      `weir orgs set requires at least one of: ${names.join(', ')}. For help, run: weir orgs --help`,
    )
  return change
}

function parseBilling(text: string | undefined): BillingMode | undefined {
  const billing = billingModes.find((candidate) => candidate === text)
  if (text !== undefined && billing === undefined)
    throw new UsageError(
      `--billing must be one of ${billingModes.join(', ')}, not “${text}”. For help, run: weir orgs --help`,
    )
  return billing
}

function parseLimit(flag: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined
  if (text === 'default') return null
  const limit = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(limit))
    throw new UsageError(
      `${flag} must be a whole number of at least 1, or default, not “${text}”. For help, run: weir orgs --help`,
    )
  return limit
}

/** `weir orgs credit`. */
async function credit(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'orgs credit',
    flags: { note: 'text' },
    operands: ['NAME', 'USD'],
  })
  const [name = '', usd = ''] = operands
  const amount = parseAmount(usd)
  const account = await withExistingStorage(flags, context, ({ organizations }) =>
    organizations.credit(name, amount, flags.note),
  )
  context.out(
    flags.json
      ? jsonText(organizationJson(account))
      : `The balance of ${name} is ${formatUsd(account.balance)} USD.`,
  )
  if (!flags.json) printBillingHint(account, context)
  return 0
}

function parseAmount(usd: string): Nanos {
  const amount = parseUsd(usd)
  if (amount === undefined)
    throw new UsageError(
      `USD must be an amount such as 25 or 12.50, with at most nine decimals, not “${usd}”. For help, run: weir orgs --help`,
    )
  return amount
}

function printBillingHint({ name, billing }: OrganizationAccount, context: CliContext): void {
  if (billing === 'prepaid') return
  const command = `weir orgs set ${/^\S+$/.test(name) ? name : `'${name}'`} --billing prepaid`
  context.err(`The billing of ${name} is ${billing}. To pay for requests from the balance, run: ${command}`)
}

/** Formats organizations as a table for the terminal. */
function organizationTable(accounts: readonly OrganizationAccount[]): string {
  return table(accounts, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ID', value: ({ id }) => id },
    { title: 'BILLING', value: ({ billing }) => billing },
    rightColumn('BALANCE USD', ({ balance }) => formatUsd(balance)),
    rightColumn('REQUESTS/MIN', ({ limits }) => limitText(limits.requestsPerMinute)),
    rightColumn('TOKENS/MIN', ({ limits }) => limitText(limits.tokensPerMinute)),
    rightColumn('CONCURRENT', ({ limits }) => limitText(limits.concurrentRequests)),
    { title: 'CREATED', value: ({ createdAt }) => new Date(createdAt).toISOString().slice(0, 10) },
  ])
}

function limitText(limit: number | null): string {
  return limit?.toLocaleString('en-US') ?? 'default'
}
