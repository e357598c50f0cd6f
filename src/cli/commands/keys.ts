import { durationOf } from '../../config/duration.ts'
import { defaultOrganization } from '../../storage/sqlite/keys/bootstrap.ts'
import type { KeyRecord, NewKey } from '../../storage/sqlite/keys/keys.ts'
import { commonFlagsHelp, parseFlags } from '../args.ts'
import { type Command, runSubcommand } from '../command.ts'
import type { CliContext } from '../context.ts'
import { UsageError } from '../errors.ts'
import { jsonText, table } from '../output.ts'
import { withExistingStorage, withReadableStorage } from '../storage.ts'

const usage = `Usage
  weir keys create [--org NAME] [--name TEXT] [--expires 90d]
                                 a new key, printed this once
  weir keys list                 all keys, by their ids
  weir keys revoke ID            the key answers 401 from now on
  weir keys rotate ID [--grace 24h]
                                 a new key for the same purpose; the old one works for the grace more

Flags
  --org NAME                     whose key it is; without it: default
  --name TEXT                    what it is for
  --expires 90d                  until when it works; without it: until it is revoked
  --grace 24h                    0s ends the old key at once

The id of a key is the part of it between “sk-weir-” and the next dash.
Works while a server runs, which sees the change within a second.

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
  const { made, old } = await withExistingStorage(flags, context, async ({ keys }) => {
    const made = await keys.rotate(id, grace)
    return { made, old: (await keys.list()).find((key) => key.id === id) }
  })
  printKey(made, flags.json, context)
  if (!flags.json) context.err(`The old key ${id} works until ${expiryText(old)}.`)
  return 0
}

/** The key alone goes to standard output, so that a script can take it. */
function printKey({ record, key }: NewKey, json: boolean | undefined, context: CliContext): void {
  const { id, name, organization } = record
  const { expires_at } = keyJson(record)
  if (json) return context.out(jsonText({ id, key: key.reveal(), name, organization, expires_at }))
  context.out(key.reveal())
  context.err(
    `This is the only time the key is shown. It is of ${organization} and works until ${expiryText(record)}.`,
  )
}

function expiryText(record: KeyRecord | undefined): string {
  return (record && keyJson(record).expires_at) ?? 'it is revoked'
}

function duration(flag: string, text: string): number {
  const milliseconds = /^0(ms|s|m|h|d)$/.test(text) && flag === '--grace' ? 0 : durationOf(text)
  // Beyond a hundred years a date would not fit its type.
  if (milliseconds === undefined || milliseconds > 36_500 * 86_400_000)
    throw new UsageError(
      `${flag} needs a duration such as 90d or 24h, but got “${text}”. See weir keys --help.`,
    )
  return milliseconds
}

/** A key as `--json` prints it. */
export function keyJson(record: KeyRecord) {
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

/** Keys as a table for people. */
export function keyTable(records: readonly KeyRecord[], now: number): string {
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
