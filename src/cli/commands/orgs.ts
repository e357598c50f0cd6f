import { commonFlagsHelp, parseFlags } from '../args.ts'
import { type Command, runSubcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { organizationJson, organizationTable } from '../orgs-output.ts'
import { jsonText } from '../output.ts'
import { withProgress } from '../progress.ts'
import { withExistingStorage, withStorage, withReadableStorage } from '../storage.ts'
import { credit } from './orgs-credit.ts'
import { set } from './orgs-set.ts'

const usage = `Usage
  weir orgs create NAME          creates an organization with unmetered billing
  weir orgs list                 lists all organizations with their balances and limits
  weir orgs set NAME [flags]     changes the billing and the limits of an organization
  weir orgs credit NAME USD [--note TEXT]
                                 adds to the balance; “weir orgs credit NAME -5” subtracts
  weir orgs delete NAME --yes    deletes an organization with all its data; its keys get 403

Flags of set
  --billing prepaid              requests are paid from the balance, and rejected if it is too low
  --billing unmetered            requests are counted, and never rejected for their cost
  --billing none                 all requests are rejected
  --requests-per-minute N        “default” instead of N uses the limit of the settings
  --tokens-per-minute N
  --concurrent-requests N

Works while a server is running, which applies the change within a second.

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
  return withReadableStorage(flags, context, async ({ organizations, file }) => {
    const accounts = await organizations.list()
    if (flags.json) context.out(jsonText(accounts.map(organizationJson)))
    else
      context.out(
        accounts.length > 0 ? organizationTable(accounts) : `There are no organizations in ${file}.`,
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
    throw new UsageError(`This deletes ${name} and all that is stored for it. Add --yes to do so.`)
  let rows = 0
  const account = await withExistingStorage(flags, context, ({ organizations }) =>
    withProgress(
      organizations.delete(name, (more) => (rows += more)),
      context,
      flags.json,
      () => `Deleting the organization ${name}: ${rows.toLocaleString('en-US')} rows deleted so far.`,
    ),
  )
  const deleted = { ...organizationJson(account), deleted: true }
  context.out(flags.json ? jsonText(deleted) : `Deleted the organization ${name}.`)
  return 0
}
