import { wait } from '../../../lib/time.ts'

/** A process that ran for this time did not fail to start: its replacement starts without a delay. */
const stableMs = 10_000
const minDelayMs = 100
const maxDelayMs = 10_000

/** The delay before a process is started again: it doubles while the process ends soon after its start. */
export type RestartDelay = {
  /** Resolves after the delay for a process that ran for so long, or when the signal aborts. */
  wait(ranMs: number, signal: AbortSignal): Promise<void>
}

/** Creates the delay for one process and its replacements. */
export function createRestartDelay(): RestartDelay {
  let delayMs = 0
  return {
    async wait(ranMs, signal) {
      if (ranMs >= stableMs) delayMs = 0
      // It rejects only when the signal aborts.
      if (delayMs > 0) await wait(delayMs, signal).catch(() => {})
      delayMs = Math.min(Math.max(delayMs * 2, minDelayMs), maxDelayMs)
    },
  }
}
