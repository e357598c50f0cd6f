import { noLimits } from '../../domain/accounting/allowance.ts'
import { keyEndOf, type KeyWithOwners, requireEnabled } from '../../gateway/access/valid-key.ts'
import { ApiError } from '../../lib/errors/errors.ts'
import type { KeyRecord, OrganizationAccount, ProjectRecord } from '../../storage/ports/accounts.ts'
import type { ManagedStores } from '../../storage/ports/storage.ts'

/** Whether requests with a key are accepted, as they are while it is active, or replaced and not expired yet. */
export type KeyState = {
  readonly state: 'active' | 'replaced' | 'disabled' | 'expired' | 'revoked'
  /** The sentence that says why, where that is not the end of the key itself. */
  readonly reason?: string
}

type Stores = Pick<ManagedStores, 'keys' | 'organizations' | 'projects'>

/** Reads what these keys depend on, and returns a function that says the state of one of them at this time. */
export async function readKeyStates(
  { keys, organizations, projects }: Stores,
  records: readonly KeyRecord[],
  now: number,
): Promise<(record: KeyRecord) => KeyState> {
  const owners: Owners = {
    organizations: byId(await organizations.list()),
    projects: byId(records.some(({ project }) => project !== null) ? await projects.list() : []),
    keys: byId(records),
  }
  for (const { parent } of records) {
    if (parent === null || owners.keys.has(parent)) continue
    const found = await keys.find(parent)
    if (found !== undefined) owners.keys.set(parent, found)
  }
  return (record) => stateOf(withOwners(record, owners), record, now)
}

type Owners = {
  readonly organizations: ReadonlyMap<string, OrganizationAccount>
  readonly projects: ReadonlyMap<string, ProjectRecord>
  readonly keys: Map<string, KeyRecord>
}

function byId<Item extends { readonly id: string }>(items: readonly Item[]): Map<string, Item> {
  return new Map(items.map((item) => [item.id, item]))
}

function withOwners(record: KeyRecord, { organizations, projects, keys }: Owners): KeyWithOwners {
  const { project } = record
  // Those that are deleted are not listed.
  const found = project && projects.get(project.id)
  const parent = record.parent === null ? undefined : keys.get(record.parent)
  return {
    ...record,
    publicId: record.id,
    organization: organizations.get(record.organizationId) ?? null,
    project: project && { limits: noLimits, ...project, ...found, isDeleted: found === undefined },
    parent: parent === undefined ? null : { ...parent, publicId: parent.id },
  }
}

function stateOf(key: KeyWithOwners, { replacedBy }: KeyRecord, now: number): KeyState {
  const own = keyEndOf({ ...key, parent: null }, now)
  if (own !== undefined) return { state: own }
  const inherited = keyEndOf(key, now)
  if (inherited !== undefined)
    return {
      state: inherited,
      reason: `The API key ${key.parent?.publicId} has ended, which has created it.`,
    }
  const reason = rejectionOf(key)
  if (reason !== undefined) return { state: 'disabled', reason }
  return { state: replacedBy === null ? 'active' : 'replaced' }
}

/** The sentence with which requests are rejected, although the key has not ended; undefined if they are accepted. */
function rejectionOf(key: KeyWithOwners): string | undefined {
  try {
    requireEnabled(key)
  } catch (error) {
    if (error instanceof ApiError) return error.message
    throw error
  }
  return undefined
}
