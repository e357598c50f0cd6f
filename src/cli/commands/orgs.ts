import { commonFlagsHelp, parseFlags } from '../args.ts'
import { type Command, runSubcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { organizationJson } from '../../api/admin/organization-object.ts'
import { organizationTable } from '../orgs-output.ts'
import { jsonText } from '../output.ts'
import { withProgress } from '../progress.ts'
import { withExistingStorage, withStorage, withReadableStorage } from '../storage.ts'
import { credit } from './orgs-credit.ts'
import { set } from './orgs-set.ts'

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
export const orgs: Command = {
  name: 'orgs',
  summary: 'manage organizations: balances, billing and limits',
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
