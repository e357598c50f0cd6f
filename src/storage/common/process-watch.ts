import type { ProcessBeat } from '../ports/processes.ts'

/** Judges by their beats whether processes are alive, with the clock of this process. */
export type ProcessWatch = {
  now(): number
  /**
   * Notes the counts of a list that was asked for at `askedAt`, and returns the processes that have not beaten for the time
   * of silence, in which every observation of this process succeeded.
   */
  observe(processes: readonly ProcessBeat[], askedAt: number): readonly ProcessBeat[]
  /** Forgets all observations: while the store cannot be reached, other processes may be unable to beat. */
  reset(): void
}

export type ProcessWatchOptions = {
  readonly silenceMs: number
  /** After a longer time between two observations, this process itself was suspended. */
  readonly maxGapMs: number
  readonly now: () => number
}

/** See `ProcessWatch`. */
export function createProcessWatch({ silenceMs, maxGapMs, now }: ProcessWatchOptions): ProcessWatch {
  let seen = new Map<string, { readonly beat: number; readonly since: number }>()
  let observedAt = Number.NEGATIVE_INFINITY

  function observe(processes: readonly ProcessBeat[], askedAt: number): readonly ProcessBeat[] {
    const answeredAt = now()
    if (answeredAt - observedAt > maxGapMs) seen = new Map()
    observedAt = answeredAt
    // A count that is the same as before has not changed from when that was received until this list was asked for.
    const silent = processes.filter(({ id, beat }) => {
      const last = seen.get(id)
      return last?.beat === beat && askedAt - last.since >= silenceMs
    })
    seen = new Map(
      processes.map(({ id, beat }) => {
        const last = seen.get(id)
        return [id, last?.beat === beat ? last : { beat, since: answeredAt }]
      }),
    )
    return silent
  }

  return { now, observe, reset: () => void (seen = new Map()) }
}
