import type { OrganizationChange } from '../../storage/ports/organizations.ts'
import { type BillingMode, billingModes } from '../../domain/accounting/organization.ts'
import type { CliContext } from '../context.ts'
import { parseFlags } from '../args.ts'
import { UsageError } from '../errors.ts'
import { organizationJson } from '../../api/admin/organization-object.ts'
import { organizationTable } from '../orgs-output.ts'
import { jsonText } from '../output.ts'
import { withExistingStorage } from '../storage.ts'

const changeFlags = {
  billing: 'text',
  'requests-per-minute': 'text',
  'tokens-per-minute': 'text',
  'concurrent-requests': 'text',
} as const

/** `weir orgs set`. */
export async function set(args: readonly string[], context: CliContext): Promise<number> {
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
