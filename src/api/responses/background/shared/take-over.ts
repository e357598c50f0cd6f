import { runCancelled } from '../../../../lib/errors/errors.ts'
import { causeOf } from '../../../../lib/log.ts'
import { retryWhileUnavailable } from '../../../../storage/ports/retry-while-unavailable.ts'
import type { ClaimedRun, RunKey } from '../../../../storage/ports/run-claims.ts'
import { failDamaged, settleInterrupted, toQueuedRun } from '../recovery.ts'
import type { Run } from '../run.ts'
import { type DamagedRun, type StoredRun, toStoredRun } from '../stored-run.ts'
import type { RunSharing } from './run-sharing.ts'

/** Where the queued runs go. */
export type RunTargets = {
  /** Whether the process has the run already: its queue may start one that is being claimed back. */
  has(run: RunKey): boolean
  add(run: Run): void
  /** Ends a run that is not to be started. */
  drop(run: Run, error: unknown): void
}

/**
 * Continues runs that this process has claimed: queued ones are queued here, those in progress have failed. Retries while
 * the database is unavailable, until the process stops: then others claim the runs.
 */
export class TakeOver {
  readonly #sharing: Pick<RunSharing, 'claims' | 'recovery'>
  readonly #targets: RunTargets
  readonly #stopped: AbortSignal
  readonly #continued = new Set<string>()

  constructor(sharing: Pick<RunSharing, 'claims' | 'recovery'>, targets: RunTargets, stopped: AbortSignal) {
    this.#sharing = sharing
    this.#targets = targets
    this.#stopped = stopped
  }

  /** Whether a run is being continued at this moment. */
  has(id: string): boolean {
    return this.#continued.has(id)
  }

  /** Continues runs that the process has claimed under this id; resolves when each is queued, or its end is stored. */
  continue(owner: string, claimed: readonly RunKey[]): Promise<void> {
    return this.#each(owner, claimed, (row) => this.#queueOrFail(owner, row))
  }

  /**
   * Fails runs that a removed process has started, and this one has claimed; resolves when their ends are stored. The queue
   * may still have them, from the time before the removed process claimed them: they are not started.
   */
  fail(owner: string, claimed: readonly RunKey[]): Promise<void> {
    return this.#each(owner, claimed, (row) => this.#fail(owner, toStoredRun(row)))
  }

  async #each(owner: string, claimed: readonly RunKey[], step: Step): Promise<void> {
    if (claimed.length === 0) return
    for (const { id } of claimed) this.#continued.add(id)
    try {
      const read = () => this.#sharing.claims.read(owner, claimed)
      const rows = await retryWhileUnavailable(read, this.#stopped)
      this.#logFailed(await Promise.all(rows.map((row) => this.#attempt(() => step(row)))))
    } finally {
      for (const { id } of claimed) this.#continued.delete(id)
    }
  }

  async #attempt(step: () => Promise<Continued>): Promise<Continued> {
    try {
      return await retryWhileUnavailable(step, this.#stopped)
    } catch (error) {
      const cause = causeOf(error)
      this.#sharing.recovery.log.error('A background run of another process could not be continued.', {
        cause,
      })
      return 'queued'
    }
  }

  async #queueOrFail(owner: string, row: ClaimedRun): Promise<Continued> {
    const stored = toStoredRun(row)
    if (stored.live === undefined) return await this.#fail(owner, stored)
    if (row.status === 'in_progress')
      return this.#targets.has(row) ? 'running' : await this.#fail(owner, stored)
    const run = await toQueuedRun(stored, this.#sharing.recovery)
    if (row.cancelRequested) this.#targets.drop(run, runCancelled())
    else this.#targets.add(run)
    return 'queued'
  }

  async #fail(owner: string, stored: StoredRun | DamagedRun): Promise<Continued> {
    if (stored.live === undefined) await this.#failDamaged(owner, stored)
    else await settleInterrupted(stored, this.#sharing.recovery)
    return 'failed'
  }

  async #failDamaged(owner: string, damaged: DamagedRun): Promise<void> {
    const { claims, recovery } = this.#sharing
    if (damaged.order !== undefined) return await failDamaged(damaged, recovery)
    // The claim has moved its reservation to this process, which does not know the request.
    await claims.leaveReservation(owner, damaged.row)
    await failDamaged(damaged, recovery)
    await recovery.ledger.recover()
  }

  #logFailed(results: readonly Continued[]): void {
    const runs = results.filter((result) => result === 'failed').length
    if (runs === 0) return
    this.#sharing.recovery.log.warn('Background runs of a process that was killed have failed.', { runs })
  }
}

type Continued = 'queued' | 'running' | 'failed'
type Step = (row: ClaimedRun) => Promise<Continued>
