import { type Nanos, nanosOf, usdText } from '../../lib/usd.ts'
import type { OrganizationAccount } from '../../storage/ports/organizations.ts'
import { type CliContext, parseFlags, UsageError } from '../args.ts'
import { organizationJson } from '../orgs-output.ts'
import { jsonText } from '../output.ts'
import { withChangedStorage } from '../storage.ts'

/** `weir orgs credit`. */
export async function credit(args: readonly string[], world: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'orgs credit',
    flags: { note: 'text' },
    operands: ['NAME', 'USD'],
  })
  const [name = '', usd = ''] = operands
  const amount = amountOf(usd)
  const account = await withChangedStorage(flags, world, ({ organizations }) =>
    organizations.credit(name, amount, flags.note),
  )
  world.out(
    flags.json
      ? jsonText(organizationJson(account))
      : `The balance of ${name} is ${usdText(account.balance)} USD.`,
  )
  if (!flags.json) hint(account, world)
  return 0
}

function amountOf(usd: string): Nanos {
  const amount = nanosOf(usd)
  if (amount === undefined)
    throw new UsageError(
      `USD is an amount such as 25 or 12.50, with nine decimals at most, not “${usd}”. See weir orgs --help.`,
    )
  return amount
}

function hint({ name, billing }: OrganizationAccount, world: CliContext): void {
  if (billing === 'prepaid') return
  const command = `weir orgs set ${/^\S+$/.test(name) ? name : `'${name}'`} --billing prepaid`
  world.err(`The billing of ${name} is ${billing}. Calls are paid from the balance after: ${command}`)
}
