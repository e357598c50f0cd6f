import { parseDuration } from '../../config/units.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import type { KeyRecord, NewKey } from '../../storage/ports/accounts.ts'
import type { ManagedStores } from '../../storage/ports/storage.ts'
import { type ChangeDependencies, createChanges } from './changes.ts'
import { findOrganization } from './organizations.ts'

/** The dependencies of the management of keys. */
type KeyServiceDependencies = ChangeDependencies & { readonly managed: ManagedStores }

/** The changes that the operator makes to API keys. See `MakeChange`. */
export type KeyService = ReturnType<typeof createKeyService>

export function createKeyService(parts: KeyServiceDependencies) {
  const { organizations, keys } = parts.managed
  const change = createChanges(parts)
  return {
    page: keys.page,
    /** `organization` is an id or a name; `expiresIn` is a duration such as `90d`. */
    create: (organization: string, name: string, expiresIn: string | undefined) =>
      change(
        'key.create',
        async () => {
          const expiresAt = expiryOf(expiresIn)
          const owner = await findOrganization(organizations, organization)
          return keys.create({ organization: owner.name, name, expiresAt })
        },
        ({ record }) => ({ key: record.id, organization: record.organization, name }),
      ),
    revoke: (id: string) =>
      change(
        'key.revoke',
        () => keys.revoke(id),
        ({ organization }) => ({ key: id, organization }),
      ),
    /** The old key works for `grace`, a duration such as `1h`. */
    rotate: (id: string, grace = defaultGrace) =>
      change(
        'key.rotate',
        async () => keys.rotate(id, graceOf(grace)),
        ({ record }) => ({ key: id, organization: record.organization, replaced_by: record.id, grace }),
      ),
  }
}

function expiryOf(expiresIn: string | undefined): number | null {
  if (expiresIn === undefined) return null
  const lifetime = parseLifetime(expiresIn)
  if (lifetime !== undefined) return Date.now() + lifetime
  throw invalidDuration('expires_in')
}

function graceOf(grace: string): number {
  const milliseconds = parseGrace(grace)
  if (milliseconds !== undefined) return milliseconds
  throw invalidDuration('grace')
}

function invalidDuration(field: string): Error {
  return badRequest(`Invalid '${field}': must be a duration such as 90d or 24h.`, 'invalid_value', field)
}

/** Returns a key without its secret, as the admin API returns it, and the command line prints it with `--json`. */
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

/** Returns a new key with its secret, which is shown only once. */
export function newKeyJson({ record, key }: NewKey) {
  const { id, name, organization, expires_at } = keyJson(record)
  return { id, key: key.reveal(), name, organization, expires_at }
}

/** How long an API key works after it was rotated, unless a request says otherwise. */
export const defaultGrace = '24h'

/** In milliseconds: a hundred years; a date much later would overflow. */
const maxLifetimeMs = 36_500 * 86_400_000

/** Parses how long a key works, such as `90d`; returns milliseconds, or undefined if it is not a valid lifetime. */
export function parseLifetime(text: string): number | undefined {
  const milliseconds = parseDuration(text)
  return milliseconds !== undefined && milliseconds <= maxLifetimeMs ? milliseconds : undefined
}

/** Parses how long a rotated key still works, which may be `0s`. */
export function parseGrace(text: string): number | undefined {
  return /^0(ms|s|m|h|d)$/.test(text) ? 0 : parseLifetime(text)
}

function dateOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
