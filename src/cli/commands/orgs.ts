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
  weir orgs create NAME          a new organization; it pays nothing until that is changed
  weir orgs list                 all organizations, with their balances and limits
  weir orgs set NAME [flags]     changes how it pays and what it may do
  weir orgs credit NAME USD [--note TEXT]
                                 adds to its balance; “weir orgs credit NAME -5” takes back
  weir orgs delete NAME --yes    deletes it and all that is stored for it; its keys answer 403

Flags of set
  --billing prepaid              calls are paid from the balance, and refused without one
  --billing unmetered            calls are counted, and never refused for money
  --billing none                 calls are refused until that is changed
  --requests-per-minute N        “default” instead of N leaves a limit to the settings
  --tokens-per-minute N
  --concurrent-requests N

Works while a server runs, which sees the change within a second.

Examples
  weir orgs create acme
  weir orgs credit acme 12.50 --note "invoice 7"
  weir orgs set acme --billing prepaid --requests-per-minute 600

${commonFlagsHelp}`

/** `weir orgs`. */
export const orgs: Command = {
  name: 'orgs',
  summary: 'organizations: their balances, billing and limits',
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
