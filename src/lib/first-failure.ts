import { causeOf, type Log } from './log.ts'

/** Work that is repeated until it succeeds; only the first of several failures in a row is logged. */
export type FirstFailure = {
  /** Runs the work; a success lets the next failure be logged. */
  during(work: () => Promise<unknown>): Promise<void>
  failed(error: unknown): void
}

/** Logs a warning for each outage, not for each attempt that fails in it. */
export function logFirstFailure(log: Log, message: string): FirstFailure {
  let failing = false
  return {
    async during(work) {
      await work()
      failing = false
    },
    failed(error) {
      if (!failing) log.warn(message, { cause: causeOf(error) })
      failing = true
    },
  }
}
