import type { Organization } from '../../../domain/accounting/organization.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import type { Gateway } from '../../../gateway/gateway.ts'
import type { Models } from '../../../gateway/models/model.ts'
import type { QueuedSlot } from '../../../gateway/rate-limits/admission.ts'
import { noOrganization, runKeyInvalid } from '../../../lib/errors/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import type { KeyDirectory } from '../../../storage/sqlite/keys/key-directory.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { LiveResponses } from '../live/live-responses.ts'

/** A response that is made in the background, from the moment when it is stored as queued. */
export type Run = {
  readonly live: LiveResponse
  readonly facts: RequestMetadata
  /** What it has taken of the limits, and the place that it waits for. */
  readonly call: QueuedSlot
}

/** What runs are executed with. */
export type RunParts = {
  /** What is in force when a run begins: settings may change while it waits. */
  readonly current: () => RunEnvironment
  readonly responses: Responses
  readonly live: LiveResponses
  readonly keys: KeyDirectory
  /** A transaction on its own. */
  readonly write: (work: () => void) => Promise<void>
  readonly log: Log
}

export type RunEnvironment = {
  readonly gateway: Gateway
  readonly models: () => Models
  readonly unsupported: 'reject' | 'drop'
  /** How many runs are under way at once. */
  readonly concurrency: number
  /** How many runs an organization may have queued. */
  readonly maxQueued: number
}

/**
 * The organization that a run is made for. Throws the error that the run fails with where its key was revoked or has
 * expired while it was queued, or its organization was deleted.
 */
export function requireRunOwner(
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
