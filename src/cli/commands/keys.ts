import { parseDuration } from '../../config/units.ts'
import { defaultOrganization } from '../../storage/sqlite/keys/bootstrap.ts'
import type { KeyRecord, NewKey } from '../../storage/ports/keys.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import { type Command, runSubcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { jsonText, table } from '../output.ts'
import { withExistingStorage, withReadableStorage } from '../storage.ts'

const usage = `Usage
  weir keys create [--org NAME] [--name TEXT] [--expires 90d]
                                 creates a key and prints it, once
  weir keys list                 lists all keys with their ids
  weir keys revoke ID            revokes a key; requests with it get 401
  weir keys rotate ID [--grace 24h]
                                 replaces a key; the old one works until the grace period ends

Flags
  --org NAME                     the organization of the key; default: default
  --name TEXT                    a name that describes its use
  --expires 90d                  when the key expires; without it: never
  --grace 24h                    how long the old key still works; 0s revokes it at once

The id of a key is the part between “sk-weir-” and the next dash.
Works while a server is running, which applies the change within a second.

${commonFlagsHelp}`

/** `weir keys`. */
export const keys: Command = {
  name: 'keys',
  summary: 'create, list, revoke and rotate API keys',
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
  return withReadableStorage(flags, context, async ({ keys, file }) => {
    const records = await keys.list()
    if (flags.json) context.out(jsonText(records.map(keyJson)))
    else context.out(records.length > 0 ? keyTable(records, Date.now()) : `There are no keys in ${file}.`)
    return 0
  })
}

async function revoke(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, { command: 'keys revoke', flags: {}, operands: ['ID'] })
  const [id = ''] = operands
  const record = await withExistingStorage(flags, context, ({ keys }) => keys.revoke(id))
  context.out(flags.json ? jsonText(keyJson(record)) : `Revoked the key ${id} (${record.name}).`)
  return 0
}

async function rotate(args: readonly string[], context: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'keys rotate',
    flags: { grace: 'text' },
    operands: ['ID'],
  })
  const [id = ''] = operands
  const grace = duration('--grace', flags.grace ?? '24h')
  const { created, old } = await withExistingStorage(flags, context, async ({ keys }) => {
    const created = await keys.rotate(id, grace)
    return { created, old: (await keys.list()).find((key) => key.id === id) }
  })
  printKey(created, flags.json, context)
  if (!flags.json) context.err(`The old key ${id} works until ${expiryText(old)}.`)
  return 0
}

/** Prints only the key on standard output, so that a script can read it. */
function printKey({ record, key }: NewKey, json: boolean | undefined, context: CliContext): void {
  const { id, name, organization } = record
  const { expires_at } = keyJson(record)
  if (json) return context.out(jsonText({ id, key: key.reveal(), name, organization, expires_at }))
  context.out(key.reveal())
  context.err(
    `This is the only time the key is shown. It belongs to ${organization} and works until ${expiryText(record)}.`,
  )
}

function expiryText(record: KeyRecord | undefined): string {
  return (record && keyJson(record).expires_at) ?? 'it is revoked'
}

function duration(flag: string, text: string): number {
  const milliseconds = /^0(ms|s|m|h|d)$/.test(text) && flag === '--grace' ? 0 : parseDuration(text)
  // A hundred years; a date much later would overflow.
  if (milliseconds === undefined || milliseconds > 36_500 * 86_400_000)
    throw new UsageError(
      `${flag} needs a duration such as 90d or 24h, but got “${text}”. See weir keys --help.`,
    )
  return milliseconds
}

/** Returns a key as `--json` prints it. */
function keyJson(record: KeyRecord) {
  return {
    id: record.id,
    name: record.name,
    organization: record.organization,
    last4: record.last4,
    created_at: new Date(record.createdAt).toISOString(),
    expires_at: dateOrNull(record.expiresAt),
    revoked_at: dateOrNull(record.revokedAt),
    replaced_by: record.replacedBy,
  }
}

/** Formats keys as a table for the terminal. */
function keyTable(records: readonly KeyRecord[], now: number): string {
  return table(records, [
    { title: 'ID', value: ({ id }) => id },
    { title: 'ENDS IN', value: ({ last4 }) => last4 },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'ORGANIZATION', value: ({ organization }) => organization ?? '(deleted)' },
    { title: 'STATE', value: (record) => stateOf(record, now) },
    { title: 'EXPIRES', value: ({ expiresAt }) => dateOrNull(expiresAt) ?? 'never' },
  ])
}

function stateOf({ revokedAt, expiresAt, replacedBy }: KeyRecord, now: number): string {
  if (revokedAt !== null) return 'revoked'
  if (expiresAt !== null && expiresAt <= now) return 'expired'
  return replacedBy === null ? 'active' : `replaced by ${replacedBy}`
}

function dateOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
