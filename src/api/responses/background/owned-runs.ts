import type { RunKey } from '../../../storage/ports/run-store.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { RunDependencies } from './run.ts'

/** The dependencies of the execution of runs. */
export type RunContext = RunDependencies & { readonly owned: OwnedRuns }

/**
 * The runs of this process: whether it executes a queued run, and whether it ends one that has not started. Another process
 * may claim a queued run at any time, so the store decides.
 */
export class OwnedRuns {
  readonly #parts: Pick<RunDependencies, 'peers' | 'runs' | 'live'>
  /** The ids under which the process has its runs. */
  readonly #owners = new WeakMap<LiveResponse, string>()

  constructor(parts: Pick<RunDependencies, 'peers' | 'runs' | 'live'>) {
    this.#parts = parts
  }

  /** Registers a queued run of this process; false if it is registered already. */
  add(live: LiveResponse): boolean {
    // The store lets an owner repeat its start, and would let the run be sent twice.
    if (this.has(live)) return false
    this.#owners.set(live, this.#parts.peers.id())
    this.#parts.live.addQueued(live)
    return true
  }

  /** Whether this process has queued the run, or executes it, or is storing its end. */
  has({ organization, id }: RunKey): boolean {
    const { live } = this.#parts
    const known = live.find(organization, id) ?? live.findQueued(organization, id)
    return known !== undefined && this.isCurrent(known)
  }

  /** Whether this process has a run under the id that it has now, and not under one that was evicted. */
  isCurrent(live: LiveResponse): boolean {
    return this.#owners.get(live) === this.#parts.peers.id()
  }

  /** Sets a run to in progress; resolves with false if the run is not to be executed by this process any more. */
  start(live: LiveResponse): Promise<boolean> {
    const owner = this.#owners.get(live) ?? this.#parts.peers.id()
    return this.#take(live, owner, this.#parts.runs.start(owner, live))
  }

  /** Keeps a queued run from being started; resolves with false if this process is not to end it any more. */
  withdraw(live: LiveResponse): Promise<boolean> {
    const owner = this.#parts.peers.id()
    return this.#take(live, owner, this.#parts.runs.withdraw(owner, live))
  }

  /** Forgets a run that another process has, or that was deleted. Open event streams follow it in the store. */
  forget(live: LiveResponse): void {
    this.#parts.live.remove(live)
  }

  async #take(live: LiveResponse, owner: string, taken: Promise<boolean>): Promise<boolean> {
    if (!(await taken)) return false
    this.#owners.set(live, owner)
    this.#parts.live.add(live)
    return true
  }
}
