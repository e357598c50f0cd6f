import type { Gateway } from '../../gateway/gateway.ts'
import type { QueuedCall } from '../../gateway/limits/admission.ts'
import type { Models } from '../../gateway/models/model.ts'
import type { Log } from '../../lib/log.ts'
import type { KeyDirectory } from '../../storage/key-directory.ts'
import type { RequestFacts } from '../../storage/request-facts.ts'
import type { Responses } from '../../storage/responses.ts'
import type { LiveResponse } from '../live-response.ts'
import type { LiveResponses } from '../live-responses.ts'

/** A response that is made in the background, from the moment when it is stored as queued. */
export type Run = {
  readonly live: LiveResponse
  readonly facts: RequestFacts
  /** What it has taken of the limits, and the place that it waits for. */
  readonly call: QueuedCall
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
