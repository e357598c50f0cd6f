import { defaultGrace, parseGrace } from '../../api/admin/keys.ts'
import { defaultOrganization } from '../../storage/bootstrap-key.ts'
import { renderKey, withBudget } from '../../http/render-accounts.ts'
import type { KeyRecord, NewKey } from '../../storage/ports/accounts.ts'
import type { ManagedStores } from '../../storage/ports/storage.ts'
import {
  findKey,
  findOrganization,
  findProject,
  listKeys,
  releaseHeld,
  withUse,
} from '../accounts/find-account.ts'
import { keyFlags, keyIdOf, readKeyFlags } from '../accounts/key-flags.ts'
import { keyColumns, keyDetails, keyJson } from '../accounts/key-output.ts'
import {
  assertChange,
  invalidFlag,
  limitFlagsHelp,
  releaseHeldFlag,
  releaseHeldHelp,
} from '../accounts/limit-flags.ts'
import { type Call, type Command, commonFlagsHelp, runSubcommand } from '../command.ts'
import { CommandError } from '../errors.ts'
import { listText } from '../output.ts'
import { storageCommand } from '../storage.ts'

const usage = `Usage
  weir keys create [--org NAME] [flags]
                                 create an API key and print it, once
  weir keys list [--org NAME] [--project PROJECT]
                                 list API keys with their IDs, what is left of their budgets, and
                                 when they were created and last used, to the hour
  weir keys show ID              print all properties of an API key
  weir keys set ID [flags]       change an API key
  weir keys revoke ID            revoke an API key and those that it has created; requests with
                                 them are rejected with 401
  weir keys rotate ID [--grace 24h]
                                 replace an API key; the old one works until the grace period ends,
                                 and both spend one budget

Creates and manages the API keys that clients send as a bearer token. What an API key may spend and
request is also limited by its project and its organization. The changes apply to a running server
within a second.

Arguments
  ID                             the ID of an API key: the part between “sk-weir-” and the next
                                 dash; or the whole key

Flags of create and list
  --org NAME                     the organization; default: “default” for create, all for list

Flags of create and set
  --name TEXT                    a description of what the API key is used for; default: unnamed
  --project PROJECT              the name or the ID of a project of the organization; or none
  --expires 90d                  when the API key expires, from now; default: never
${limitFlagsHelp('key')}
  --permissions LIST             what else the API key may do: “admin” manages its organization,
                                 “mint” creates API keys out of its own budget; default: none
  --tags LIST                    tags, separated by commas; or none
  --note TEXT                    a note; or none
  --content-log on               keep what its requests ask and what is answered, for as long as the
                                 setting retention.content_log says; default: off. The API keys
                                 that it has created follow.

Flags of set
${releaseHeldHelp}

Flags of rotate
  --grace 24h                    how long the old API key still works; 0s revokes it immediately;
                                 default: 24h

Examples
  weir keys create --org acme --name billing-service --expires 90d
  weir keys create --name agent --budget 0.50 --expires 2h --models 'anthropic/*'
  weir keys set 2gKUg9XE1oXC --budget 20 --budget-period month
  weir keys list --json
  weir keys rotate 2gKUg9XE1oXC --grace 1h

${commonFlagsHelp}`

/** `weir keys`. */
export const command: Command = {
  usage,
  run: (args, context) => runSubcommand('keys', { create, list, show, set, revoke, rotate }, args, context),
}

const create = storageCommand('keys create', { flags: { org: 'text', ...keyFlags } }, async (call) => {
  const { flags } = call
  const organization = flags.org ?? defaultOrganization
  const createdAt = Date.now()
  const read = readKeyFlags(flags, createdAt)
  const properties = { ...read, name: read.name ?? 'unnamed', expiresAt: read.expiresAt ?? null, createdAt }
  const created = await call.open('write', async (storage) => {
    const project = await projectId(storage, flags.project, organization)
    return withBudgetOf(storage, await storage.keys.create({ ...properties, organization, project }))
  })
  printKey(created, call)
})

/** Finds the project that a flag names; null for “none”, and undefined without the flag. */
async function projectId(
  storage: ManagedStores,
  reference: string | undefined,
  organization: string,
): Promise<string | null | undefined> {
  if (reference === undefined || reference === 'none') return reference && null
  return (await findProject(storage, reference, organization)).id
}

const listFlags = { org: 'text', project: 'text' } as const

const list = storageCommand('keys list', { flags: listFlags }, ({ flags, context, open, print }) =>
  open('read', async (storage) => {
    const keys = await withUse(storage, await selectKeys(storage, flags), Date.now())
    const none = `There are no ${flags.org || flags.project ? 'such ' : ''}API keys in ${storage.name}.`
    print(keys.map(keyJson), listText(keys, keyColumns, none, context))
  }),
)

/** The keys of an organization or of a project; all if none is named. */
async function selectKeys(
  storage: ManagedStores,
  { org, project }: { readonly org?: string; readonly project?: string },
): Promise<readonly KeyRecord[]> {
  if (project !== undefined)
    return listKeys(storage, { projectId: (await findProject(storage, project, org)).id })
  if (org === undefined) return storage.keys.list()
  return listKeys(storage, { organizationId: (await findOrganization(storage, org)).id })
}

const show = storageCommand(
  'keys show',
  { operands: ['ID'] },
  async ({ operands: [argument], open, print }) => {
    const id = keyIdOf(argument)
    await open('read', async (storage) => printDetails(storage, await findKey(storage, id), print))
  },
)

async function printDetails(storage: ManagedStores, record: KeyRecord, print: Call['print']): Promise<void> {
  for (const key of await withUse(storage, [record], Date.now())) print(keyJson(key), keyDetails(key))
}

const setFlags = { ...keyFlags, ...releaseHeldFlag } as const

const set = storageCommand('keys set', { flags: setFlags, operands: ['ID'] }, async (call) => {
  const { flags, context, print } = call
  const id = keyIdOf(call.operands[0])
  const change = readKeyFlags(flags, Date.now())
  const { project, 'release-held': releases } = flags
  assertChange({ ...change, project, releases }, 'keys set', setFlags)
  await call.open('write', async (storage) => {
    const projectOfKey = project && (await projectId(storage, project, await organizationOf(storage, id)))
    const changed = await storage.keys.change(id, { ...change, project: projectOfKey })
    if (releases) await releaseHeld(storage, changed, context)
    await printDetails(storage, changed, print)
  })
})

async function organizationOf(storage: ManagedStores, id: string): Promise<string> {
  const { organization } = await findKey(storage, id)
  if (organization === null) throw new CommandError(`The organization of the API key ${id} was deleted.`)
  return organization
}

const revoke = storageCommand('keys revoke', { operands: ['ID'] }, async ({ operands, open, print }) => {
  const id = keyIdOf(operands[0])
  const key = await open('write', (storage) => withBudget(storage, storage.keys.revoke(id)))
  print(renderKey(key), `Revoked the API key ${id} (${key.account.name}).`)
})

const rotate = storageCommand('keys rotate', { flags: { grace: 'text' }, operands: ['ID'] }, async (call) => {
  const { flags, context } = call
  const id = keyIdOf(call.operands[0])
  const grace = readGrace(flags.grace ?? defaultGrace)
  const { created, old } = await call.open('write', async (storage) => {
    const created = await withBudgetOf(storage, await storage.keys.rotate(id, grace))
    return { created, old: await storage.keys.find(id) }
  })
  printKey(created, call)
  if (!flags.json) context.err(`The old API key ${id} works until ${expiryText(old)}.`)
})

function readGrace(text: string): number {
  const grace = parseGrace(text)
  if (grace !== undefined) return grace
  throw invalidFlag('keys', 'grace', 'a duration such as 90d or 24h', text)
}

async function withBudgetOf(storage: ManagedStores, { key, record }: NewKey) {
  return { key, ...(await withBudget(storage, record)) }
}

/** Prints only the key on standard output, so that a script can read it. */
function printKey(
  created: Awaited<ReturnType<typeof withBudgetOf>>,
  { flags, context, print }: Pick<Call, 'flags' | 'context' | 'print'>,
) {
  const { key, account } = created
  const { id, ...properties } = renderKey(created)
  print({ id, key: key.reveal(), ...properties }, key.reveal())
  if (flags.json) return
  context.err(
    `The API key is shown only once. It belongs to the organization ${account.organization} and works until ${expiryText(account)}.`,
  )
}

function expiryText(record: KeyRecord | undefined): string {
  return record?.expiresAt == null ? 'it is revoked' : new Date(record.expiresAt).toISOString()
}
