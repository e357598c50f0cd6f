import type { Responses } from '../../../storage/ports/responses.ts'
import type { RunKey } from '../../../storage/ports/run-claims.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { LiveResponses } from '../live/live-responses.ts'

/** Decides whether this process executes a queued run, and whether it ends one that has not started. */
export type RunOwnership = {
  /** Registers a queued run of this process; false if it is registered already. */
  add(live: LiveResponse): boolean
  /** Whether this process has queued the run, or executes it, or is storing its end. */
  has(run: RunKey): boolean
  /** Sets a run to in progress; resolves with false if the run is not to be executed by this process any more. */
  start(live: LiveResponse): Promise<boolean>
  /** Keeps a queued run from being started; resolves with false if this process is not to end it any more. */
  withdraw(live: LiveResponse): Promise<boolean>
  /** Forgets a run whose end this process does not store. */
  forget(live: LiveResponse): void
}

/** The ownership of a process that does not share its database: all runs are its own, until they are deleted. */
export function createSoleOwnership(responses: Responses, registry: LiveResponses): RunOwnership {
  return {
    add(live) {
      registry.add(live)
      return true
    },
    has: ({ organization, id }) => registry.find(organization, id) !== undefined,
    start: ({ organization, id }) => responses.start(organization, id),
    withdraw: () => Promise.resolve(true),
    forget: (live) => void live.apply({ type: 'cancelled', usage: null }),
  }
}
