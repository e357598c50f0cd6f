import { ApiError } from '../../../lib/errors/errors.ts'
import { RunQueue } from './run-queue.ts'
import { requireRunOwner, type Run, type RunParts } from './run.ts'
import type { ActiveRuns } from './active-runs.ts'

/** Milliseconds after which an organization is tried again that had no place for its runs. */
const placePause = 200
/** Runs that are dropped in one turn of the event loop: the end of each is written. */
const maxDropped = 20

/** The runs that wait; each begins when it is the turn of its organization and there is room for it. */
export class RunScheduler {
  readonly queue = new RunQueue()
  readonly #underway: ActiveRuns
  readonly #parts: Pick<RunParts, 'current' | 'keys'>
  #held = false
  #retry: Timer | undefined

  constructor(underway: ActiveRuns, parts: Pick<RunParts, 'current' | 'keys'>) {
    this.#underway = underway
    this.#parts = parts
  }

  add(run: Run): void {
    this.queue.add(run)
    this.#beginSome()
  }

  /** Begins those for which there is room: other settings are in force, or a place of this organization is free. */
  schedule(organization?: string): void {
    this.queue.unpark(organization)
    this.#beginSome()
  }

  /** From now on none begins. */
  pause(): void {
    this.#held = true
    clearTimeout(this.#retry)
  }

  /** Keeps so many under way at once; those of an organization without a free place do not hold up the others. */
  #beginSome(): void {
    clearTimeout(this.#retry)
    if (this.#held) return
    const { concurrency } = this.#parts.current()
    let dropped = 0
    while (this.#underway.size() < concurrency) {
      const run = this.queue.first()
      if (run === undefined) break
      if (!this.#beginOrDrop(run) && ++dropped >= maxDropped) {
        this.#retry = setTimeout(() => this.#beginSome(), 1)
        return
      }
    }
    // A place may also become free by the end of a call that is no run.
    if (this.queue.parked > 0) this.#retry = setTimeout(() => this.schedule(), placePause)
  }

  /** Begins the first run where its organization has a place for it; false where it must not begin any more. */
  #beginOrDrop(run: Run): boolean {
    const refusal = refusalOf(run, this.#parts.keys)
    if (refusal) {
      this.queue.removeFirst()
      this.#underway.drop(run, refusal)
      return false
    }
    const call = run.call.start()
    if (call === undefined) this.queue.park()
    else {
      this.queue.removeFirst()
      void this.#underway.start(run, call).then(() => this.schedule(run.live.organization))
    }
    return true
  }
}

/** Why the run must not begin any more. Where the database does not know at the moment, it is asked again later. */
function refusalOf({ facts }: Run, keys: RunParts['keys']): ApiError | undefined {
  try {
    requireRunOwner(facts, keys)
    return undefined
  } catch (error) {
    return error instanceof ApiError && error.status !== 503 ? error : undefined
  }
}
