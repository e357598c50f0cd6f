import { defaultGrace, keyJson, newKeyJson, parseGrace, parseLifetime } from '../../api/admin/keys.ts'
import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import type { KeyRecord, NewKey } from '../../storage/ports/accounts.ts'
import { type Command, commonFlagsHelp, parseFlags, runSubcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { jsonText, table } from '../output.ts'
import { withExistingStorage, withReadableStorage } from '../storage.ts'

const usage = `Usage
  weir keys create [--org NAME] [--name TEXT] [--expires 90d]
                                 create an API key and print it, once
  weir keys list                 list all API keys with their IDs
  weir keys revoke ID            revoke an API key; requests with it are rejected with 401
  weir keys rotate ID [--grace 24h]
                                 replace an API key; the old one works until the grace period ends

Creates and manages the API keys that clients send as a bearer token. The changes apply to a
running server within a second.

Arguments
  ID                             the ID of an API key: the part between “sk-weir-” and the next dash

Flags of create
  --org NAME                     the organization of the API key; default: “default”
  --name TEXT                    a description of what the API key is used for; default: unnamed
  --expires 90d                  when the API key expires, from now; default: never

Flags of rotate
  --grace 24h                    how long the old API key still works; 0s revokes it immediately;
                                 default: 24h

Examples
  weir keys create --org acme --name billing-service --expires 90d
  weir keys list --json
  weir keys rotate 2gKUg9XE1oXC --grace 1h

${commonFlagsHelp}`

/** `weir keys`. */
export const command: Command = {
  usage,
  run: (args, context) => runSubcommand('keys', { create, list, revoke, rotate }, args, context),
}

async function create(args: readonly string[], context: CliContext): Promise<number> {
  const { flags } = parseFlags(args, {
    command: 'keys create',
    flags: { org: 'text', name: 'text', expires: 'text' },
  })
  const lifetime = flags.expires === undefined ? null : duration('--expires', flags.expires)
  const input = {
    organization: flags.org ?? defaultOrganization,
    name: flags.name ?? 'unnamed',
    expiresAt: lifetime === null ? null : Date.now() + lifetime,
  }
  const created = await withExistingStorage(flags, context, ({ keys }) => keys.create(input))
  printKey(created, flags.json, context)
  return 0
}

async function list(args: readonly string[], context: CliContext): Promise<number> {
  const { flags } = parseFlags(args, { command: 'keys list', flags: {} })
  return withReadableStorage(flags, context, async ({ keys, name }) => {
    const records = await keys.list()
    if (flags.json) context.out(jsonText(records.map(keyJson)))
    else context.out(records.length > 0 ? keyTable(records, Date.now()) : `There are no API keys in ${name}.`)
    return 0
  })
}

async function revoke(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, { command: 'keys revoke', flags: {}, operands: ['ID'] })
  const [id = ''] = operands
  const record = await withExistingStorage(flags, context, ({ keys }) => keys.revoke(id))
  context.out(flags.json ? jsonText(keyJson(record)) : `Revoked the API key ${id} (${record.name}).`)
  return 0
}

async function rotate(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'keys rotate',
    flags: { grace: 'text' },
    operands: ['ID'],
  })
  const [id = ''] = operands
  const grace = duration('--grace', flags.grace ?? defaultGrace)
  const { created, old } = await withExistingStorage(flags, context, async ({ keys }) => {
    const created = await keys.rotate(id, grace)
    return { created, old: (await keys.list()).find((key) => key.id === id) }
  })
  printKey(created, flags.json, context)
  if (!flags.json) context.err(`The old API key ${id} works until ${expiryText(old)}.`)
  return 0
}

/** Prints only the key on standard output, so that a script can read it. */
function printKey({ record, key }: NewKey, json: boolean | undefined, context: CliContext): void {
  if (json) return context.out(jsonText(newKeyJson({ record, key })))
  context.out(key.reveal())
  context.err(
    `The API key is shown only once. It belongs to the organization ${record.organization} and works until ${expiryText(record)}.`,
  )
}

function expiryText(record: KeyRecord | undefined): string {
  return (record && keyJson(record).expires_at) ?? 'it is revoked'
}

function duration(flag: string, text: string): number {
  const milliseconds = flag === '--grace' ? parseGrace(text) : parseLifetime(text)
  if (milliseconds !== undefined) return milliseconds
  throw new UsageError(
    `${flag} must be a duration such as 90d or 24h, not “${text}”. For help, run: weir keys --help`,
  )
}

/** Formats keys as a table for the terminal. */
function keyTable(records: readonly KeyRecord[], now: number): string {
  return table(records, [
    { title: 'ID', value: ({ id }) => id },
    { title: 'ENDS IN', value: ({ last4 }) => last4 },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ORGANIZATION', value: ({ organization }) => organization ?? '(deleted)' },
    { title: 'STATE', value: (record) => stateOf(record, now) },
    { title: 'EXPIRES', value: (record) => keyJson(record).expires_at ?? 'never' },
  ])
}

function stateOf({ revokedAt, expiresAt, replacedBy }: KeyRecord, now: number): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return replacedBy === null ? 'active' : `replaced by ${replacedBy}`
}
