import { usdText } from '../lib/usd.ts'
import type { OrganizationAccount } from '../storage/organizations.ts'
import { runAction } from './actions.ts'
import { type Command, commonFlagsHelp, parseFlags, UsageError, type World } from './command.ts'
import { jsonText, table } from './output.ts'
import { withStorage } from './storage.ts'

const usage = `Usage
  weir orgs create NAME          a new organization; it pays nothing until that is changed
  weir orgs list                 all organizations
  weir orgs delete NAME --yes    deletes it and all that is stored for it; its keys answer 403

Works while a server runs, which sees the change within a second.

Examples
  weir orgs create acme
  weir keys create --org acme

${commonFlagsHelp}`

/** `weir orgs`. */
export const orgs: Command = {
  name: 'orgs',
  summary: 'create, list and delete organizations',
  usage,
  run: (args, world) => runAction('orgs', { create, list, delete: remove }, args, world),
}

async function create(args: readonly string[], world: World): Promise<number> {
  const { flags, operands } = parseFlags(args, { command: 'orgs create', flags: {}, operands: ['NAME'] })
  const [name = ''] = operands
  const account = await withStorage(flags, world, ({ organizations }) => organizations.create(name))
  world.out(flags.json ? jsonText(toJson(account)) : `Created the organization ${name} (${account.id}).`)
  return 0
}

async function list(args: readonly string[], world: World): Promise<number> {
  const { flags } = parseFlags(args, { command: 'orgs list', flags: {} })
  return withStorage(flags, world, async ({ organizations, file }) => {
    const accounts = await organizations.list()
    if (flags.json) world.out(jsonText(accounts.map(toJson)))
    else world.out(accounts.length > 0 ? tableOf(accounts) : `There are no organizations in ${file}.`)
    return 0
  })
}

async function remove(args: readonly string[], world: World): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'orgs delete',
    flags: { yes: 'switch' },
    operands: ['NAME'],
  })
  const [name = ''] = operands
  if (!flags.yes)
    throw new UsageError(`This deletes ${name} and all that is stored for it. Add --yes to do so.`)
  const account = await withStorage(flags, world, ({ organizations }) => organizations.delete(name))
  world.out(
    flags.json ? jsonText({ ...toJson(account), deleted: true }) : `Deleted the organization ${name}.`,
  )
  return 0
}

function toJson({ id, name, billing, balance, limits, createdAt }: OrganizationAccount) {
  return {
    id,
    name,
    billing,
    balance_usd: usdText(balance),
    requests_per_minute: limits.requestsPerMinute,
    tokens_per_minute: limits.tokensPerMinute,
    concurrent_requests: limits.concurrentRequests,
    created_at: new Date(createdAt).toISOString(),
  }
}

function tableOf(accounts: readonly OrganizationAccount[]): string {
  return table(accounts, [
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ID', value: ({ id }) => id },
    { title: 'BILLING', value: ({ billing }) => billing },
    { title: 'CREATED', value: ({ createdAt }) => new Date(createdAt).toISOString().slice(0, 10) },
  ])
}
