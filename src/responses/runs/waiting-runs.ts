import type { LiveResponse } from '../live-response.ts'
import type { Run } from './run.ts'
import { RunQueue } from './run-queue.ts'
import type { UnderwayRuns } from './underway-runs.ts'

/** The runs that wait, in the order in which they came; each begins as soon as there is room for it. */
export type WaitingRuns = {
  add(run: Run): void
  /** It does not wait any more; undefined where it did not. */
  take(live: LiveResponse): Run | undefined
  size(): number
  /** What they keep in memory. */
  characters(): number
  /** Begins those for which there is room. */
  beginSome(): void
  /** From now on none begins. */
  hold(): void
}

/** Milliseconds after which runs are tried again whose organization had no place for them. */
const placePause = 200

/** Keeps so many runs under way at once; those of an organization without a free place do not hold up the others. */
export function createWaitingRuns(underway: UnderwayRuns, concurrency: () => number): WaitingRuns {
  const waiting = new RunQueue()
  let held = false
  let retry: Timer | undefined

  function beginSome(): void {
    clearTimeout(retry)
    if (held || waiting.size === 0) return
    const most = concurrency()
    const full = new Set<string>()
    for (const run of waiting.values()) {
      if (underway.size() >= most) return
      const { organization } = run.live
      const call = full.has(organization) ? undefined : run.call.start()
      if (call === undefined) full.add(organization)
      else {
        waiting.take(run.live)
        void underway.begin(run, call).then(beginSome)
      }
    }
    // A place may also become free by the end of a call that is no run.
    if (full.size > 0) retry = setTimeout(beginSome, placePause)
  }

  return {
    add(run) {
      waiting.add(run)
      beginSome()
    },
    take: (live) => waiting.take(live),
    size: () => waiting.size,
    characters: () => waiting.characters,
    beginSome,
    hold() {
      held = true
      clearTimeout(retry)
    },
  }
}
