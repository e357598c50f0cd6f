import type { ConcurrencySlot } from '../../../gateway/rate-limits/admission.ts'
import { interrupted } from '../../../lib/errors/errors.ts'
import { causeOf } from '../../../lib/log.ts'
import { settleWithin } from '../../../lib/time.ts'
import type { LiveResponse } from '../live/live-response.ts'
import { Checkpoints } from './checkpoints.ts'
import { dropRun, executeRun } from './execute-run.ts'
import type { RunContext } from './owned-runs.ts'
import type { Run } from './run.ts'

/** For the ends of all runs to be stored when the process stops. */
const stopTimeoutMs = 10_000

/** The runs that were started or dropped, each until its end is stored. */
export class ActiveRuns {
  readonly #parts: RunContext
  readonly #checkpoints: Checkpoints
  readonly #started = new Map<LiveResponse, AbortController>()
  readonly #ends = new Set<Promise<unknown>>()
  readonly #abandoned = new AbortController()

  constructor(parts: RunContext) {
    this.#parts = parts
    this.#checkpoints = new Checkpoints(parts)
  }

  /** The number of runs that were started and have not ended. */
  get size(): number {
    return this.#started.size
  }

  /** The responses of these runs. */
  responses(): readonly LiveResponse[] {
    return [...this.#started.keys()]
  }

  /** Executes a run; resolves when it has ended, with or without an error. */
  async start(run: Run, slot: ConcurrencySlot): Promise<void> {
    const abort = new AbortController()
    this.#started.set(run.live, abort)
    this.#checkpoints.watch(run.live)
    const signals = { abort: abort.signal, abandoned: this.#abandoned.signal }
    await this.#track(executeRun(run, slot, signals, this.#parts))
    this.#checkpoints.unwatch(run.live)
    this.#started.delete(run.live)
  }

  /** Ends a run that was not started; resolves with false if another process has it. */
  async drop(run: Run, error: unknown): Promise<boolean> {
    return (await this.#track(dropRun(run, error, this.#abandoned.signal, this.#parts))) ?? true
  }

  /** Ends a run that was started; does nothing for any other response. */
  abort(live: LiveResponse, error: unknown): void {
    this.#started.get(live)?.abort(error)
  }

  /** Resolves when all runs have ended. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#ends)
  }

  /** Ends all runs with the error. The next process ends those whose end could not be stored in time. */
  async stop(error: unknown): Promise<void> {
    for (const abort of this.#started.values()) abort.abort(error)
    await settleWithin(this.idle(), stopTimeoutMs)
    this.#abandoned.abort(interrupted())
    this.#checkpoints.stop()
  }

  /** If the end is not stored, the response stays in progress in the database until another process ends it. */
  async #track<T>(end: Promise<T>): Promise<T | undefined> {
    this.#ends.add(end)
    try {
      return await end
    } catch (error) {
      this.#parts.log.error('The result of a background run could not be stored.', { cause: causeOf(error) })
      return undefined
    } finally {
      this.#ends.delete(end)
    }
  }
}
