import { createWatchdog } from '../../lib/watchdog.ts'
import type { Provider } from '../../providers/provider.ts'
import { timedOut } from './failure.ts'

/** The deadlines of one answer: until its first event, and then between its pieces. */
export type Deadlines = {
  /** More is wanted: the provider is waited for from now on, and not while a caller is slow to take what came. */
  wanted(): void
  /** Events have come. */
  begun(): void
  /** A piece has come, with an event in it or without. */
  heard(): void
  stop(): void
}

/** Ends the call with the 502 that says which deadline passed. */
export function createDeadlines({ name, timeouts }: Provider, abort: AbortController): Deadlines {
  const ended = (why: string) => () => abort.abort(timedOut(name, why))
  let watchdog = createWatchdog(timeouts.firstByte, ended('no answer came'))
  const stopped = ended('the answer stopped')
  let begun = false
  let waiting = true
  return {
    wanted() {
      waiting = true
      if (begun) watchdog.touch()
    },
    begun() {
      waiting = false
      if (begun) return
      begun = true
      watchdog.stop()
      watchdog = createWatchdog(timeouts.idle, () => waiting && stopped())
    },
    heard: () => void (begun && watchdog.touch()),
    stop: () => watchdog.stop(),
  }
}
