import type { OrganizationChange } from '../../storage/ports/organizations.ts'
import { type BillingMode, billingModes } from '../../domain/accounting/organization.ts'
import { type CliContext, parseFlags, UsageError } from '../args.ts'
import { organizationJson, organizationTable } from '../orgs-output.ts'
import { jsonText } from '../output.ts'
import { withChangedStorage } from '../storage.ts'

const changes = {
  billing: 'text',
  'requests-per-minute': 'text',
  'tokens-per-minute': 'text',
  'concurrent-requests': 'text',
} as const

/** `weir orgs set`. */
export async function set(args: readonly string[], world: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, { command: 'orgs set', flags: changes, operands: ['NAME'] })
  const [name = ''] = operands
  const change = changeOf(flags)
  const account = await withChangedStorage(flags, world, ({ organizations }) =>
    organizations.change(name, change),
  )
  world.out(flags.json ? jsonText(organizationJson(account)) : organizationTable([account]))
  return 0
}

function changeOf(flags: { readonly [Name in keyof typeof changes]?: string }): OrganizationChange {
  const names = Object.keys(changes).map((name) => `--${name}`)
  const change = {
    billing: billingOf(flags.billing),
    requestsPerMinute: limitOf('--requests-per-minute', flags['requests-per-minute']),
    tokensPerMinute: limitOf('--tokens-per-minute', flags['tokens-per-minute']),
    concurrentRequests: limitOf('--concurrent-requests', flags['concurrent-requests']),
  }
  if (Object.values(change).every((value) => value === undefined))
    throw new UsageError(`weir orgs set needs one of: ${names.join(', ')}. See weir orgs --help.`)
  return change
}

function billingOf(text: string | undefined): BillingMode | undefined {
  const billing = billingModes.find((known) => known === text)
  if (text !== undefined && billing === undefined)
    throw new UsageError(
      `--billing is one of ${billingModes.join(', ')}, not “${text}”. See weir orgs --help.`,
    )
  return billing
}

function limitOf(flag: string, text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined
  if (text === 'default') return null
  const limit = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN
  if (!Number.isSafeInteger(limit))
    throw new UsageError(`${flag} is a whole number from 1, or default, not “${text}”. See weir orgs --help.`)
  return limit
}
