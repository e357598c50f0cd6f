import type { RunKey } from '../../../../storage/ports/run-claims.ts'
import type { LiveResponse } from '../../live/live-response.ts'
import type { LiveResponses } from '../../live/live-responses.ts'
import type { RunOwnership } from '../run-ownership.ts'
import type { RunSharing } from './run-sharing.ts'

/** The ownership of a process among others. */
export type SharedOwnership = RunOwnership & {
  /** Whether this process has a run under the id that it has now, and not under one that was removed. */
  isCurrent(live: LiveResponse): boolean
}

/**
 * Any process may claim a queued run, so the database decides. `registry` has the runs that this process executes or ends,
 * `waiting` those that are in its queue.
 */
export function createSharedOwnership(
  { process, claims, waiting }: Pick<RunSharing, 'process' | 'claims' | 'waiting'>,
  registry: LiveResponses,
): SharedOwnership {
  /** The ids under which the process has its runs. */
  const owners = new WeakMap<LiveResponse, string>()
  const isCurrent = (live: LiveResponse) => owners.get(live) === process.id()

  /** There is no gap between the two registries: a run changes from one to the other when its start is known. */
  function has({ organization, id }: RunKey): boolean {
    const known = [waiting.find(organization, id), registry.find(organization, id)]
    return known.some((live) => live !== undefined && isCurrent(live))
  }

  async function take(live: LiveResponse, owner: string, taken: Promise<boolean>): Promise<boolean> {
    if (!(await taken)) return false
    owners.set(live, owner)
    registry.add(live)
    waiting.remove(live)
    return true
  }

  return {
    isCurrent,
    has,
    add(live) {
      // The database lets an owner repeat its start, and would let the run be sent twice.
      if (has(live)) return false
      owners.set(live, process.id())
      waiting.add(live)
      return true
    },
    start(live) {
      const owner = owners.get(live) ?? process.id()
      return take(live, owner, claims.start(owner, live))
    },
    withdraw(live) {
      const owner = process.id()
      return take(live, owner, claims.withdraw(owner, live))
    },
    // Another process continues the run; open event streams follow it there.
    forget: waiting.remove,
  }
}
