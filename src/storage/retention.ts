import { causeOf, type Log } from '../lib/log.ts'
import { repeatEvery, wait } from '../lib/time.ts'
import type { Storage } from './ports/storage.ts'

/** Milliseconds for which things are kept; without end where none are given. */
export type Retention = {
  readonly completions?: number | undefined
  readonly responses?: number | undefined
  readonly usage?: number | undefined
}

/** One small piece of work on what is stored, which holds the requests up no longer than a write of theirs. */
export type SweepStep = {
  readonly name: string
  /** Tells how much it did; none where nothing is left to do. */
  run(): Promise<number>
}

/** Sweeps what has expired out of the storage, once in so many milliseconds, until it is stopped. */
export function startRetention(
  storage: Storage,
  retention: () => Retention,
  milliseconds: number,
  log: Log,
): { stop(): void } {
  const stopped = new AbortController()
  const steps = sweepSteps(storage, retention)
  // The first one: what an earlier process has left in the middle is not to wait.
  void sweep(steps.slice(0, 1), log, stopped.signal)
  const failed = (error: unknown) => log.error('The sweep has failed.', { cause: causeOf(error) })
  const repeating = repeatEvery(milliseconds, () => sweep(steps, log, stopped.signal), failed)
  return {
    stop() {
      repeating.stop()
      stopped.abort()
    },
  }
}

/** The space comes last: it is that of the others. */
function sweepSteps(storage: Storage, retention: () => Retention): readonly SweepStep[] {
  const { states, completions, responses, usage, deletions, space } = storage
  const expiring = (kept: number | undefined, expire: (before: number) => Promise<number>) =>
    kept === undefined ? Promise.resolve(0) : expire(Date.now() - kept)
  return [
    { name: 'deleted organizations', run: deletions.continue },
    { name: 'provider state', run: () => states.sweep() },
    { name: 'completions', run: () => expiring(retention().completions, completions.expire) },
    { name: 'responses', run: () => expiring(retention().responses, responses.expire) },
    { name: 'usage', run: () => expiring(retention().usage, usage.expire) },
    { name: 'space', run: () => space() },
  ]
}

/** Milliseconds between two steps, which belong to the requests. */
const pause = 20

/** Runs each step until nothing is left for it; one that fails does not keep back the others. Ends with the signal. */
export async function sweep(steps: readonly SweepStep[], log: Log, signal: AbortSignal): Promise<void> {
  for (const step of steps) {
    try {
      while (!signal.aborted && (await step.run()) > 0) await wait(pause, signal)
    } catch (error) {
      if (signal.aborted) return
      log.warn('What has expired was not swept out.', { step: step.name, cause: causeOf(error) })
    }
  }
}
