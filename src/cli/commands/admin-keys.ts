import { type AdminPermission, adminPermissions } from '../../domain/accounting/organization.ts'
import { adminKeyPrefix, parseAdminKey, parseApiKey } from '../../domain/accounting/api-key.ts'
import type { AdminKeyRecord } from '../../storage/ports/admin-keys.ts'
import { plainId, readExpiry } from '../accounts/key-flags.ts'
import { invalidFlag, readNames } from '../accounts/limit-flags.ts'
import { timeCell } from '../accounts/limits-output.ts'
import { type Command, commonFlagsHelp, runSubcommand } from '../command.ts'
import { UsageError } from '../errors.ts'
import { type Column, listText } from '../output.ts'
import { storageCommand } from '../storage.ts'
import { isoTimeOrNull } from '../../lib/time.ts'

const usage = `Usage
  weir admin-keys create [--name TEXT] [--expires 90d] [--permissions LIST]
                                 create an admin key and print it, once
  weir admin-keys list           list admin keys with their IDs and permissions
  weir admin-keys revoke ID      revoke an admin key; requests with it are rejected with 401

Creates and manages the keys of operators: the bearer tokens of the admin API, of the operator's
part of the page, of the usage of all organizations, and of GET /metrics from other machines.
They open no model; API keys do, which are managed with weir keys. The changes apply to running
servers within a second. The environment variable WEIR_ADMIN_KEY of a server is another admin key.

The permissions of an admin key do not change. To replace it, create another one, and revoke the
old one when it is no longer used.

Arguments
  ID                             the ID of an admin key: the part between “${adminKeyPrefix}” and the
                                 next dash; or the whole key

Flags of create
  --name TEXT                    who or what uses the admin key; default: unnamed
  --expires 90d                  when the admin key expires, from now; default: never
  --permissions LIST             what the admin key may do, beside “read”, which each one may: “write”
                                 changes the gateway, “content” reads what clients have sent and
                                 received; default: read,write

Examples
  weir admin-keys create --name ada
  weir admin-keys create --name grafana --permissions read --expires 90d
  weir admin-keys revoke 2gKUg9XE1oXC

${commonFlagsHelp}`

/** `weir admin-keys`. */
export const command: Command = {
  usage,
  run: (args, context) => runSubcommand('admin-keys', { create, list, revoke }, args, context),
}

const createFlags = { name: 'text', expires: 'text', permissions: 'text' } as const

const create = storageCommand('admin-keys create', { flags: createFlags }, async (call) => {
  const { flags, context } = call
  const input = {
    name: flags.name ?? 'unnamed',
    expiresAt: readExpiry(flags.expires, 'admin-keys', Date.now()) ?? null,
    ...(flags.permissions !== undefined && { permissions: readPermissions(flags.permissions) }),
  }
  const { record, key } = await call.open('write', ({ adminKeys }) => adminKeys.create(input))
  const { id, ...properties } = render(record)
  call.print({ id, key: key.reveal(), ...properties }, key.reveal())
  if (flags.json) return
  const end = record.expiresAt === null ? 'it is revoked' : timeCell(record.expiresAt)
  const may = record.permissions.join(', ')
  context.err(`The admin key is shown only once. It works until ${end}. Permissions: ${may}.`)
})

/** Adds `read`, which every admin key has. */
function readPermissions(text: string): readonly AdminPermission[] {
  const rule = `a list of ${adminPermissions.join(', ')}`
  const names = readNames(text, 'admin-keys', 'permissions', adminPermissions, rule)
  if (names.length === 0) throw invalidFlag('admin-keys', 'permissions', rule, text)
  return adminPermissions.filter((permission) => permission === 'read' || names.includes(permission))
}

const list = storageCommand('admin-keys list', {}, ({ context, open, print }) =>
  open('read', async ({ adminKeys, name }) => {
    const keys = await adminKeys.list()
    const none = `There are no admin keys in ${name}. To create one, run: weir admin-keys create`
    print(keys.map(render), listText(keys, columns(Date.now()), none, context))
  }),
)

const columns = (now: number): readonly Column<AdminKeyRecord>[] => [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'ID', value: ({ id }) => id },
  { title: 'PERMISSIONS', value: ({ permissions }) => permissions.join() },
  { title: 'STATE', value: (key) => stateOf(key, now) },
  { title: 'CREATED', value: ({ createdAt }) => timeCell(createdAt), dropOrder: 1 },
  { title: 'EXPIRES', value: ({ expiresAt }) => (expiresAt === null ? 'never' : timeCell(expiresAt)) },
]

function stateOf({ revokedAt, expiresAt }: AdminKeyRecord, now: number): string {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active'
}

const revoke = storageCommand(
  'admin-keys revoke',
  { operands: ['ID'] },
  async ({ operands, open, print }) => {
    const id = idOf(operands[0].trim())
    const record = await open('write', ({ adminKeys }) => adminKeys.revoke(id))
    print(render(record), `Revoked the admin key ${id} (${record.name}).`)
  },
)

/** Returns the id in an argument that is an id or a whole key. Throws `UsageError`, which never contains a secret. */
function idOf(argument: string): string {
  const id = parseAdminKey(argument)?.publicId ?? plainId(argument)
  if (id !== undefined) return id
  throw new UsageError(
    parseApiKey(argument) === undefined
      ? 'ID must be the ID of an admin key, or an admin key. To list them, run: weir admin-keys list'
      : 'ID must be the ID of an admin key, not an API key. For API keys, use weir keys.',
  )
}

/** An admin key without its secret, as `--json` prints it. */
function render({ id, name, last4, permissions, createdAt, expiresAt, revokedAt }: AdminKeyRecord) {
  const [created_at, expires_at, revoked_at] = [createdAt, expiresAt, revokedAt].map(isoTimeOrNull)
  return { id, name, last4, permissions, created_at, expires_at, revoked_at }
}
