import { createWatchdog } from '../../lib/watchdog.ts'
import type { Provider } from '../../providers/provider.ts'
import { timedOut } from './failure.ts'

/** The deadlines of one answer: until its first event, and then between its pieces. */
export type Deadlines = {
  /** An event has come. */
  begun(): void
  /** A piece has come, with an event in it or without. */
  heard(): void
  stop(): void
}

/** Ends the call with the 502 that says which deadline passed. */
export function createDeadlines({ name, timeouts }: Provider, abort: AbortController): Deadlines {
  const ended = (why: string) => () => abort.abort(timedOut(name, why))
  let watchdog = createWatchdog(timeouts.firstByte, ended('no answer came'))
  let begun = false
  return {
    begun() {
      if (begun) return
      begun = true
      watchdog.stop()
      watchdog = createWatchdog(timeouts.idle, ended('the answer stopped'))
    },
    heard: () => void (begun && watchdog.touch()),
    stop: () => watchdog.stop(),
  }
}
