import { durationOf } from '../../config/duration.ts'
import { defaultOrganization } from '../../storage/sqlite/keys/bootstrap.ts'
import type { KeyRecord, NewKey } from '../../storage/ports/keys.ts'
import { runAction } from '../actions.ts'
import { type CliContext, type Command, commonFlagsHelp, parseFlags, UsageError } from '../args.ts'
import { jsonText } from '../output.ts'
import { keyJson, keyTable } from '../key-output.ts'
import { withChangedStorage, withStoredData } from '../storage.ts'

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
  run: (args, world) => runAction('keys', { create, list, revoke, rotate }, args, world),
}

async function create(args: readonly string[], world: CliContext): Promise<number> {
  const { flags } = parseFlags(args, {
    command: 'keys create',
    flags: { org: 'text', name: 'text', expires: 'text' },
  })
  const lifetime = flags.expires === undefined ? null : duration('--expires', flags.expires)
  const wish = {
    organization: flags.org ?? defaultOrganization,
    name: flags.name ?? 'unnamed',
    expiresAt: lifetime === null ? null : Date.now() + lifetime,
  }
  const made = await withChangedStorage(flags, world, ({ keys }) => keys.create(wish))
  printNewKey(made, flags.json, world)
  return 0
}

async function list(args: readonly string[], world: CliContext): Promise<number> {
  const { flags } = parseFlags(args, { command: 'keys list', flags: {} })
  return withStoredData(flags, world, async ({ keys, file }) => {
    const records = await keys.list()
    if (flags.json) world.out(jsonText(records.map(keyJson)))
    else world.out(records.length > 0 ? keyTable(records, Date.now()) : `There are no keys in ${file}.`)
    return 0
  })
}

async function revoke(args: readonly string[], world: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, { command: 'keys revoke', flags: {}, operands: ['ID'] })
  const [id = ''] = operands
  const record = await withChangedStorage(flags, world, ({ keys }) => keys.revoke(id))
  world.out(flags.json ? jsonText(keyJson(record)) : `Revoked the key ${id} (${record.name}).`)
  return 0
}

async function rotate(args: readonly string[], world: CliContext): Promise<number> {
  const { flags, operands } = parseFlags(args, {
    command: 'keys rotate',
    flags: { grace: 'text' },
    operands: ['ID'],
  })
  const [id = ''] = operands
  const grace = duration('--grace', flags.grace ?? '24h')
  const { made, old } = await withChangedStorage(flags, world, async ({ keys }) => {
    const made = await keys.rotate(id, grace)
    return { made, old: (await keys.list()).find((key) => key.id === id) }
  })
  printNewKey(made, flags.json, world)
  if (!flags.json) world.err(`The old key ${id} works until ${until(old)}.`)
  return 0
}

/** The key alone goes to standard output, so that a script can take it. */
function printNewKey({ record, key }: NewKey, json: boolean | undefined, world: CliContext): void {
  const { id, name, organization } = record
  const { expires_at } = keyJson(record)
  if (json) return world.out(jsonText({ id, key: key.reveal(), name, organization, expires_at }))
  world.out(key.reveal())
  world.err(
    `This is the only time the key is shown. It is of ${organization} and works until ${until(record)}.`,
  )
}

function until(record: KeyRecord | undefined): string {
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
