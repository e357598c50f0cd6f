import { noOrganization, runKeyInvalid } from '../../../lib/errors/errors.ts'
import type { KeyDirectory } from '../../../storage/ports/key-directory.ts'
import type { Organization } from '../../../domain/accounting/organization.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'

/**
 * The organization that a run is made for. Throws the error that the run fails with where its key was revoked or has
 * expired while it was queued, or its organization was deleted.
 */
export function ownerOf(
  { key: id }: RequestMetadata,
  keys: KeyDirectory,
  now: number = Date.now(),
): Organization {
  const key = keys.find(id)
  if (key == null || key.organization === null) throw noOrganization()
  if (key.revokedAt !== null) throw runKeyInvalid(id, 'was revoked')
  if (key.expiresAt !== null && key.expiresAt <= now) throw runKeyInvalid(id, 'has expired')
  return key.organization
}
