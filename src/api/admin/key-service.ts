import { badRequest } from '../../lib/errors/errors.ts'
import type { ManagedStores } from '../../storage/ports/storage.ts'
import { type ChangeDependencies, createChanges } from './changes.ts'
import { defaultGrace, parseGrace, parseLifetime } from './key-object.ts'
import { findOrganization } from './organization-service.ts'

/** What the management of keys depends on. */
export type KeyServiceDependencies = ChangeDependencies & { readonly managed: ManagedStores }

/** What the operator can change of API keys. See `MakeChange`. */
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
