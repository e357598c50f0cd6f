import { interrupted, runCancelled } from '../../../../lib/errors/errors.ts'
import { causeOf } from '../../../../lib/log.ts'
import { repeatEvery } from '../../../../lib/time.ts'
import type { RunKey } from '../../../../storage/ports/run-claims.ts'
import type { LiveResponse } from '../../live/live-response.ts'
import type { ActiveRuns } from '../active-runs.ts'
import type { RunScheduler } from '../run-scheduler.ts'
import type { Run, RunDependencies } from '../run.ts'
import { createCancellation } from './cancel-anywhere.ts'
import type { RunSharing } from './run-sharing.ts'
import { TakeOver } from './take-over.ts'

/** How often a process looks for queued runs if it can start some, and for its runs that are to be cancelled. */
const helpIntervalMs = 250
/** How often it looks for what others have left, and for runs that it has lost. */
const recoveryIntervalMs = 2000
/** The most runs that are claimed at once: the others may become free as well. */
const maxHelped = 32
const maxRecovered = 100
/** With more queued runs, lost ones are looked for less often. */
const maxCompared = 500

/** What this process has of its own. */
export type ExchangeDependencies = {
  readonly active: ActiveRuns
  readonly scheduler: RunScheduler
  readonly parts: RunDependencies
}

/** Exchanges background runs with the other processes of the database, as long as it runs. */
export class RunExchange {
  /** Cancels a run wherever it is; resolves when its end is stored. */
  readonly cancel: (run: RunKey) => Promise<void>
  readonly #sharing: RunSharing
  readonly #own: ExchangeDependencies
  readonly #takeOver: TakeOver
  readonly #stopping = new AbortController()
  #timers: readonly { stop(): void }[] = []
  #paused = false
  /** The runs that the last comparison has found in the database only. */
  #unknown: ReadonlySet<string> = new Set()

  constructor(sharing: RunSharing, own: ExchangeDependencies) {
    const { active, parts, scheduler } = own
    this.#sharing = sharing
    this.#own = own
    const targets = { has: parts.ownership.has, add: (run: Run) => this.#add(run), drop: active.drop }
    this.#takeOver = new TakeOver(sharing, targets, this.#stopping.signal)
    this.cancel = createCancellation({
      sharing,
      queue: scheduler.queue,
      takeOver: this.#takeOver,
      drop: active.drop,
      recover: () => this.recover(),
    })
  }

  /** Claims what other processes have left, and helps them from now on. */
  async begin(): Promise<void> {
    await this.recover()
    const onFailure = (error: unknown) => this.#logFailure(error)
    this.#timers = [
      repeatEvery(helpIntervalMs, () => this.#help(), onFailure),
      repeatEvery(recoveryIntervalMs, () => this.#tend(), onFailure),
    ]
  }

  /** Claims what removed processes have left: queued runs are queued here, the others fail. */
  async recover(): Promise<void> {
    const { process, claims } = this.#sharing
    for (const owner = process.id(); !this.#stopping.signal.aborted;) {
      const left = await claims.claimAbandoned(owner, maxRecovered)
      if (left.length === 0) return
      const { queued = [], in_progress: begun = [] } = Object.groupBy(left, ({ status }) => status)
      await Promise.all([this.#takeOver.continue(owner, queued), this.#takeOver.fail(owner, begun)])
    }
  }

  /** Ends what this process executes, because the others have removed it; its id is a new one already. */
  fenced(): void {
    const { active } = this.#own
    for (const live of active.responses()) active.abort(live, interrupted())
    this.#forgetLost().catch((error: unknown) => this.#logFailure(error))
  }

  /** Takes no queued runs of other processes from now on. */
  pause(): void {
    this.#paused = true
  }

  stop(): void {
    this.#stopping.abort(interrupted())
    for (const timer of this.#timers) timer.stop()
  }

  #add(run: Run): void {
    const { parts, scheduler } = this.#own
    if (parts.ownership.add(run.live)) scheduler.add(run)
    else run.slot.release()
  }

  async #help(): Promise<void> {
    const { process, claims } = this.#sharing
    const { active, parts, scheduler } = this.#own
    const owner = process.id()
    if (active.size() > 0) this.#abort(await claims.owned(owner, 'cancel-requested'), runCancelled())
    if (scheduler.queue.size > 0 && scheduler.queue.size <= maxCompared) await this.#forgetLost()
    const free = parts.current().concurrency - active.size()
    if (this.#paused || free <= 0 || scheduler.queue.first() !== undefined) return
    const claimed = await claims.claimQueued(owner, Math.min(free, maxHelped), scheduler.blocked())
    await this.#takeOver.continue(owner, claimed)
  }

  #abort(runs: readonly RunKey[], error: unknown): void {
    const { active, parts } = this.#own
    for (const { organization, id } of runs) {
      const live = parts.live.find(organization, id)
      if (live) active.abort(live, error)
    }
  }

  async #tend(): Promise<void> {
    await this.recover()
    await this.#continueUnknown(await this.#forgetLost())
  }

  /** Forgets runs that this process does not own any more; resolves with those that it owns. */
  async #forgetLost(): Promise<readonly RunKey[]> {
    const { process, claims } = this.#sharing
    const { active, scheduler } = this.#own
    const [queued, running] = [scheduler.queue.runs(), active.responses()]
    const rows = await claims.owned(process.id())
    const owned = new Set(rows.map(({ id }) => id))
    for (const run of queued) if (!owned.has(run.live.id)) this.#forget(run)
    await this.#abortLost(running.filter(({ id }) => !owned.has(id)))
    return rows
  }

  /** Aborts those that others have claimed or ended. One that was deleted may end by itself. */
  async #abortLost(running: readonly LiveResponse[]): Promise<void> {
    if (running.length === 0) return
    const keys = running.map(({ organization, id }) => ({
      organization,
      id,
      position: Number.MAX_SAFE_INTEGER,
    }))
    const stored = new Set((await this.#sharing.claims.progress(keys)).map(({ id }) => id))
    for (const live of running) if (stored.has(live.id)) this.#own.active.abort(live, interrupted())
  }

  /** Continues runs that this process owns without knowing, because an answer of the database was lost. */
  async #continueUnknown(owned: readonly RunKey[]): Promise<void> {
    const unknown = owned.filter((run) => !this.#isKnown(run))
    // One that has just been stored becomes known in a moment.
    const left = unknown.filter(({ id }) => this.#unknown.has(id))
    this.#unknown = new Set(unknown.map(({ id }) => id))
    await this.#takeOver.continue(this.#sharing.process.id(), left)
  }

  /** Removes a run that another process has claimed from the queue. */
  #forget({ live }: Run): void {
    const { parts, scheduler } = this.#own
    const run = scheduler.queue.remove(live)
    if (run === undefined) return
    run.slot.release()
    parts.ownership.forget(live)
  }

  #isKnown(run: RunKey): boolean {
    return this.#own.parts.ownership.has(run) || this.#takeOver.has(run.id)
  }

  #logFailure(error: unknown): void {
    this.#own.parts.log.warn('Background runs could not be exchanged with other processes yet.', {
      cause: causeOf(error),
    })
  }
}
