import { type ChangeDependencies, createChanges, type MakeChange } from '../../http/changes.ts'
import { parseLifetime } from '../../http/expiry.ts'
import { loggedLimits } from '../../http/limits.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { adminObjectNotFound } from '../../lib/errors/http-errors.ts'
import { createAccountRenderer, renderKey } from '../../http/render-accounts.ts'
import type {
  KeyChange,
  KeyInput,
  KeyPageQuery,
  KeyQueries,
  KeyRecord,
  NewKey,
} from '../../storage/ports/accounts.ts'
import type { PageQuery } from '../../storage/ports/listed-pages.ts'
import type { Actor } from '../../storage/ports/audit.ts'
import { adminChange, releaseHeld } from './accounts.ts'
import { findOrganization } from './organizations.ts'

/** The properties of a new key; `organization` is an id or a name. */
type NewKeyInput = Omit<KeyInput, 'expiresAt'> & Pick<KeyChange, 'expiresAt'>

/** The keys of a list: `organization` is an id or a name, `project` is an id. */
type KeyFilter = Pick<KeyPageQuery, 'search' | 'usableAt' | 'nearEndAt'> & {
  readonly organization?: string | undefined
  readonly project?: string | undefined
}

/** The changes that the operator makes to API keys. See `MakeChange`. */
export type KeyService = ReturnType<typeof createKeyService>

export function createKeyService(parts: ChangeDependencies) {
  const { organizations, keys, budgets } = parts.managed
  const change = createChanges(parts, adminChange)
  return {
    ...createKeyEnds(change),
    async page({ organization, project, search, usableAt, nearEndAt }: KeyFilter, query: PageQuery) {
      const owner = organization && (await findOrganization(organizations, organization))
      const organizationId = owner ? owner.id : undefined
      return keys.page({ ...query, organizationId, projectId: project, search, usableAt, nearEndAt })
    },
    render: createAccountRenderer(budgets, 'api_key', renderKey),
    find: (id: string) => findKey(keys, id),
    create: (by: Actor, input: NewKeyInput) =>
      change(
        by,
        'key.create',
        async ({ keys }) => {
          const owner = await findOrganization(organizations, input.organization)
          return keys.create({ expiresAt: null, ...input, organization: owner.name })
        },
        ({ record }) => loggedKey(record, input),
      ),
    change: (by: Actor, id: string, properties: KeyChange) =>
      change(
        by,
        'key.change',
        ({ keys }) => keys.change(id, properties),
        (record) => loggedKey(record, properties),
      ),
    releaseHeld: (by: Actor, id: string) => releaseHeld(change, by, 'key', () => findKey(keys, id)),
  }
}

/** The changes that end a key. */
function createKeyEnds(change: MakeChange) {
  return {
    revoke: (by: Actor, id: string) =>
      change(
        by,
        'key.revoke',
        ({ keys }) => keys.revoke(id),
        ({ organization }) => ({ key: id, organization }),
      ),
    /** The old key works for `grace`, a duration such as `1h`. */
    rotate: (by: Actor, id: string, grace = defaultGrace) =>
      change(
        by,
        'key.rotate',
        async ({ keys }) => keys.rotate(id, graceOf(grace)),
        ({ record }) => ({ key: id, organization: record.organization, replaced_by: record.id, grace }),
      ),
  }
}

async function findKey(keys: Pick<KeyQueries, 'find'>, id: string): Promise<KeyRecord> {
  const record = await keys.find(id)
  if (record === undefined)
    throw adminObjectNotFound(`There is no API key with the ID '${id.slice(0, 100)}'.`)
  return record
}

/** The key and the properties that a change of it names, for the log. */
function loggedKey({ id, organization }: KeyRecord, change: KeyChange) {
  const { name, project, expiresAt, permissions, tags, note, contentLog, ...limits } = change
  return {
    key: id,
    organization,
    name,
    project,
    expiresAt: expiresAt == null ? expiresAt : new Date(expiresAt).toISOString(),
    permissions: permissions?.join(' '),
    tags: tags?.join(' '),
    note,
    content_log: contentLog,
    ...loggedLimits(limits),
  }
}

/** Returns a new key with its secret, which is shown only once. */
export async function renderNewKey(service: KeyService, { record, key }: NewKey) {
  const [rendered] = await service.render([record])
  return { object: 'api_key', id: record.id, key: key.reveal(), ...rendered }
}

function graceOf(grace: string): number {
  const milliseconds = parseGrace(grace)
  if (milliseconds !== undefined) return milliseconds
  throw badRequest("Invalid 'grace': must be a duration such as 90d or 24h.", 'invalid_value', 'grace')
}

/** How long an API key works after it was rotated, unless a request says otherwise. */
export const defaultGrace = '24h'

/** Parses how long a rotated key still works, which may be `0s`; returns milliseconds, or undefined if it is not valid. */
export function parseGrace(text: string): number | undefined {
  return /^0(ms|s|m|h|d)$/.test(text) ? 0 : parseLifetime(text)
}
