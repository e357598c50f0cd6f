import type { Organization } from '../../domain/accounting/organization.ts'
import { keyDisabled, organizationDisabled, projectDisabled } from '../../lib/errors/access-errors.ts'
import { noOrganization } from '../../lib/errors/http-errors.ts'
import type { KnownKey } from '../../storage/ports/known-keys.ts'

/** Why a key is not valid any more: it was revoked, or has expired, itself or the key that created it. */
type KeyEnd = 'revoked' | 'expired'

/** What decides whether a key is valid: the key, and what it depends on. */
export type KeyWithOwners = Pick<
  KnownKey,
  'publicId' | 'expiresAt' | 'revokedAt' | 'limits' | 'organization' | 'project' | 'parent'
>

/** How a key has ended by this time; undefined for one that has not. `now` is milliseconds since 1970. */
export function keyEndOf(key: KeyWithOwners, now: number): KeyEnd | undefined {
  return endOf(key, now) ?? (key.parent === null ? undefined : endOf(key.parent, now))
}

function endOf({ revokedAt, expiresAt }: Pick<KnownKey, 'revokedAt' | 'expiresAt'>, now: number) {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : undefined
}

/**
 * Returns the organization of a key that has not ended. Throws the 403 if that is deleted, or if it, the project or the key
 * is disabled.
 */
export function requireEnabled(key: KeyWithOwners): Organization {
  const { publicId: id, organization, project, parent } = key
  if (organization === null) throw noOrganization(id)
  if (!organization.limits.enabled) throw organizationDisabled(organization.name, id)
  if (project !== null && (project.isDeleted || !project.limits.enabled))
    throw projectDisabled(project.name, project.isDeleted ? 'was deleted' : 'is disabled', id)
  if (parent !== null && !parent.limits.enabled) throw keyDisabled(parent.publicId, id)
  if (!key.limits.enabled) throw keyDisabled(id, id)
  return organization
}
