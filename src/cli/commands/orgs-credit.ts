import { type Nanos, parseUsd, formatUsd } from '../../lib/usd.ts'
import type { OrganizationAccount } from '../../storage/ports/organizations.ts'
import { parseFlags } from '../args.ts'
import { UsageError } from '../errors.ts'
import type { CliContext } from '../context.ts'
import { organizationJson } from '../../api/admin/organization-object.ts'
import { jsonText } from '../output.ts'
import { withExistingStorage } from '../storage.ts'

/** `weir orgs credit`. */
export async function credit(args: readonly string[], context: CliContext): Promise<number> {
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
