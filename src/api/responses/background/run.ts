import type { Organization } from '../../../domain/accounting/organization.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import { type CallerLimits, callerLimits } from '../../../gateway/access/caller-limits.ts'
import { keyEndOf, requireEnabled } from '../../../gateway/access/valid-key.ts'
import type { Gateway } from '../../../gateway/gateway.ts'
import type { Models } from '../../../gateway/models/models.ts'
import type { QueuedSlot } from '../../../gateway/rate-limits/admission.ts'
import type { RateLimits } from '../../../gateway/rate-limits/rate-limits.ts'
import { runKeyInvalid } from '../../../lib/errors/errors.ts'
import { noOrganization } from '../../../lib/errors/http-errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Organizations } from '../../../storage/ports/accounts.ts'
import type { KeyDirectory, KnownKey } from '../../../storage/ports/known-keys.ts'
import type { Ledger } from '../../../storage/ports/ledger.ts'
import type { Peers } from '../../../storage/ports/peers.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import type { RunStore } from '../../../storage/ports/run-store.ts'
import type { LiveResponse, LiveResponses } from '../live/live-response.ts'
import type { ToolOptions } from '../request/tools.ts'

/** A background run, from the moment when its response is stored as queued. */
export type Run = {
  readonly live: LiveResponse
  readonly metadata: RequestMetadata
  /** The tokens that it has reserved, and the concurrency slot that it waits for. */
  readonly slot: QueuedSlot
  /** Called when it leaves the queue of this process; undefined for one that was queued by another process. */
  readonly leaveQueue?: (() => void) | undefined
}

/** The dependencies of background runs. */
export type RunDependencies = {
  /** The environment at this moment: settings may change while a run is queued. */
  readonly current: () => RunEnvironment
  readonly peers: Pick<Peers, 'id' | 'count'>
  readonly runs: RunStore
  readonly responses: Responses
  readonly ledger: Ledger
  readonly live: LiveResponses
  readonly limits: RateLimits
  readonly keys: KeyDirectory
  readonly organizations: Pick<Organizations, 'areSeveral'>
  readonly log: Log
}

/** The dependencies that change with the settings. */
export type RunEnvironment = ToolOptions & {
  readonly gateway: Gateway
  readonly models: () => Models
  /** The maximum number of active runs. */
  readonly concurrency: number
  /** The maximum number of queued runs of one organization. */
  readonly maxQueued: number
}

/** The organization of a run, and what limits its key now. */
export type RunOwner = { readonly organization: Organization; readonly limits: CallerLimits }

/**
 * Returns the owner of a run. Rejects with the error with which the run fails if its key was revoked or disabled or has
 * expired while it was queued, or if its organization was deleted.
 */
export async function requireRunOwner({ key: id }: RequestMetadata, keys: KeyDirectory): Promise<RunOwner> {
  const { key, organization } = requireValidKey(id, await keys.find(id))
  return { organization, limits: callerLimits(key, organization) }
}

/** Does the same for a key that was found; returns it with its organization. */
export function requireValidKey(
  id: string,
  key: KnownKey | undefined,
): { readonly key: KnownKey; readonly organization: Organization } {
  if (key == null || key.organization === null) throw noOrganization()
  const end = keyEndOf(key, Date.now())
  if (end !== undefined) throw runKeyInvalid(id, end === 'revoked' ? 'was revoked' : 'has expired')
  return { key, organization: requireEnabled(key) }
}
