import type { Gateway } from '../../../gateway/gateway.ts'
import type { QueuedSlot } from '../../../gateway/rate-limits/admission.ts'
import type { Models } from '../../../gateway/models/model.ts'
import type { Log } from '../../../lib/log.ts'
import type { KeyDirectory } from '../../../storage/ports/key-directory.ts'
import type { RequestMetadata } from '../../../domain/accounting/request-metadata.ts'
import type { Responses } from '../../../storage/ports/responses.ts'
import type { Write } from '../../../storage/ports/writes.ts'
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
  /** Executes writes in a transaction of their own. */
  readonly write: (writes: readonly Write[]) => Promise<void>
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
