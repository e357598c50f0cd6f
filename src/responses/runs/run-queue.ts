import type { LiveResponse } from '../live-response.ts'
import type { Run } from './run.ts'

/** Runs in the order in which they came, and how much memory they keep. */
export class RunQueue {
  readonly #runs = new Map<LiveResponse, Run>()
  #characters = 0

  get size(): number {
    return this.#runs.size
  }

  /** About how many characters they keep; the input of a run is only in the database. */
  get characters(): number {
    return this.#characters
  }

  add(run: Run): void {
    this.#runs.set(run.live, run)
    this.#characters += charactersOf(run)
  }

  /** Undefined where it is not there. */
  take(live: LiveResponse): Run | undefined {
    const run = this.#runs.get(live)
    if (run && this.#runs.delete(live)) this.#characters -= charactersOf(run)
    return run
  }

  values(): Iterable<Run> {
    return this.#runs.values()
  }
}

function charactersOf({ live, facts }: Run): number {
  return JSON.stringify(live.head).length + JSON.stringify(facts).length
}
