import { interrupted, runCancelled } from '../../../lib/errors/errors.ts'
import { logFirstFailure } from '../../../lib/first-failure.ts'
import { repeatEvery } from '../../../lib/time.ts'
import type { RunKey } from '../../../storage/ports/run-store.ts'
import type { LiveResponse } from '../live/live-response.ts'
import type { ActiveRuns } from './active-runs.ts'
import { RunAdoption } from './adopt-run.ts'
import type { RunContext } from './owned-runs.ts'
import type { Run } from './run.ts'
import type { Scheduler } from './scheduler.ts'

/** How often a process claims queued runs if it can start some, and looks for its runs that are to be cancelled. */
const claimIntervalMs = 250
/** How often it claims what others have left, and compares its runs with the store. */
const reconcileIntervalMs = 2000
/** The most runs that are claimed at once: the others may become free as well. */
const maxClaimed = 32
const maxRecovered = 100
/** With more queued runs, lost ones are looked for less often. */
const maxCompared = 500

/** Divides background runs with the other processes of the database, and adopts what processes that have ended left. */
export class RunCoordinator {
  readonly #parts: RunContext
  readonly #active: ActiveRuns
  readonly #scheduler: Scheduler
  readonly #adoption: RunAdoption
  readonly #stopping = new AbortController()
  #timers: readonly { stop(): void }[] = []
  #paused = false
  /** The runs that the last comparison has found in the store only. */
  #unknown: ReadonlySet<string> = new Set()

  constructor(parts: RunContext, active: ActiveRuns, scheduler: Scheduler) {
    this.#parts = parts
    this.#active = active
    this.#scheduler = scheduler
    this.#adoption = new RunAdoption(parts, {
      add: (run) => this.add(run),
      drop: (run, error) => this.#drop(run, error),
    })
  }

  /** Queues a run of this process. */
  add(run: Run): void {
    if (this.#parts.owned.add(run.live)) return this.#scheduler.add(run)
    // It is queued already, because the answer that it was stored took long.
    run.slot.release()
    run.leaveQueue?.()
  }

  /** Adopts what processes that have ended left, and divides runs from now on. Rejects if the database is unavailable. */
  async begin(): Promise<void> {
    await this.#recover()
    const sharing = logFirstFailure(
      this.#parts.log,
      'Background runs cannot be shared with other processes yet; this is retried.',
    )
    const reconcile = () => sharing.during(() => this.#reconcile())
    this.#timers = [
      repeatEvery(claimIntervalMs, () => this.#claimQueued(), sharing.failed),
      repeatEvery(reconcileIntervalMs, reconcile, sharing.failed),
    ]
  }

  /** Adopts what evicted processes have left: queued runs are queued here, the others fail. */
  async recover(): Promise<void> {
    await this.#recover(this.#stopping.signal)
  }

  /** Ends what this process executes, because the others have evicted it; its id is a new one already. */
  onEvicted(): void {
    for (const live of this.#active.responses()) this.#active.abort(live, interrupted())
    // If it fails, the next comparison repeats it.
    this.#forgetLost().catch(() => {})
  }

  /**
   * Cancels an unfinished run, whichever process has it: a queued one is taken from its owner and ends here, the owner of a
   * started one ends it. Its end may be stored later.
   */
  async cancel(run: RunKey): Promise<void> {
    const { live, peers, runs } = this.#parts
    const known = live.find(run.organization, run.id) ?? live.findQueued(run.organization, run.id)
    if (known) this.#active.abort(known, runCancelled())
    const queued = known && this.#scheduler.queue.remove(known)
    if (queued && (await this.#active.drop(queued, runCancelled()))) return
    if (live.find(run.organization, run.id)) return
    const owner = peers.id()
    if (!(await runs.withdraw(owner, run))) return await runs.requestCancel(run)
    // One that is about to start here was aborted.
    if (!this.#isKnown(run)) await this.#adoption.adopt(owner, [run], this.#stopping.signal)
  }

  /** Ends a run of this process that is not to be started. */
  #drop(run: Run, error: unknown): void {
    if (this.#parts.owned.add(run.live)) void this.#active.drop(run, error)
    else run.slot.release()
  }

  /** Claims no queued runs of other processes from now on. */
  pause(): void {
    this.#paused = true
  }

  stop(): void {
    this.#stopping.abort(interrupted())
    for (const timer of this.#timers) timer.stop()
  }

  async #recover(stopped?: AbortSignal): Promise<void> {
    const { peers, runs } = this.#parts
    for (const owner = peers.id(); !this.#stopping.signal.aborted;) {
      const left = await runs.claimAbandoned(owner, maxRecovered)
      if (left.length === 0) return
      const { queued = [], in_progress: begun = [] } = Object.groupBy(left, ({ status }) => status)
      await Promise.all([
        this.#adoption.adopt(owner, queued, stopped),
        this.#adoption.fail(owner, begun, stopped),
      ])
    }
  }

  async #claimQueued(): Promise<void> {
    const { current, peers, runs } = this.#parts
    if (peers.count() === 1) return
    const owner = peers.id()
    const { queue } = this.#scheduler
    if (this.#active.size > 0) this.#abort(await runs.owned(owner, 'cancel-requested'), runCancelled())
    if (queue.size > 0 && queue.size <= maxCompared) await this.#forgetLost()
    const free = current().concurrency - this.#active.size
    if (this.#paused || free <= 0 || queue.first() !== undefined) return
    const claimed = await runs.claimQueued(owner, Math.min(free, maxClaimed), this.#scheduler.blocked())
    await this.#adoption.adopt(owner, claimed, this.#stopping.signal)
  }

  #abort(runs: readonly RunKey[], error: unknown): void {
    for (const { organization, id } of runs) {
      const live = this.#parts.live.find(organization, id)
      if (live) this.#active.abort(live, error)
    }
  }

  async #reconcile(): Promise<void> {
    await this.recover()
    await this.#adoptUnknown(await this.#forgetLost())
  }

  /** Forgets runs that this process does not own any more; resolves with those that it owns. */
  async #forgetLost(): Promise<readonly RunKey[]> {
    const { peers, runs } = this.#parts
    const [queued, running] = [this.#scheduler.queue.runs(), this.#active.responses()]
    const rows = await runs.owned(peers.id())
    const owned = new Set(rows.map(({ id }) => id))
    for (const { live } of queued) if (!owned.has(live.id)) this.#forget(live)
    await this.#abortLost(running.filter(({ id }) => !owned.has(id)))
    return rows
  }

  /** Aborts those that others have claimed or ended. One that was deleted may end by itself. */
  async #abortLost(running: readonly LiveResponse[]): Promise<void> {
    if (running.length === 0) return
    const position = Number.MAX_SAFE_INTEGER
    const keys = running.map(({ organization, id }) => ({ organization, id, position }))
    const stored = new Set((await this.#parts.runs.progress(keys)).map(({ id }) => id))
    for (const live of running) if (stored.has(live.id)) this.#active.abort(live, interrupted())
  }

  /** Adopts runs that this process owns without knowing, because an answer of the database was lost. */
  async #adoptUnknown(owned: readonly RunKey[]): Promise<void> {
    const unknown = owned.filter((run) => !this.#isKnown(run))
    // One that has just been stored becomes known in a moment.
    const left = unknown.filter(({ id }) => this.#unknown.has(id))
    this.#unknown = new Set(unknown.map(({ id }) => id))
    await this.#adoption.adopt(this.#parts.peers.id(), left, this.#stopping.signal)
  }

  #isKnown(run: RunKey): boolean {
    return this.#parts.owned.has(run) || this.#adoption.has(run.id)
  }

  /** Removes a run that another process has claimed from the queue. */
  #forget(live: LiveResponse): void {
    const run = this.#scheduler.queue.remove(live)
    if (run === undefined) return
    run.slot.release()
    this.#parts.owned.forget(live)
  }
}
