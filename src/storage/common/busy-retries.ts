import { serviceUnavailable } from '../../lib/errors/errors.ts'
import type { ScriptRunner } from '../statement.ts'

/** How a command waits for a database that other processes keep busy. */
export type BusyRetries = {
  /** Whether the attempt failed only because of other processes, and has changed nothing. */
  readonly isBusy: (error: unknown) => boolean
  /** Called, possibly several times, when the wait takes longer than a moment; `maxMs` is the longest wait. */
  readonly onWait: (maxMs: number) => void
  /** Milliseconds. */
  readonly timeoutMs?: number
}

/** The time that a command waits for a busy database. */
const busyTimeoutMs = 30_000
/** A wait shorter than this is not worth a word. */
const momentMs = 1000
const pauseMs = 50

/** Repeats the work while the database is busy; rejects with 503 after the timeout. */
export async function retryWhileBusy<T>(
  work: () => Promise<T> | T,
  { isBusy, onWait, timeoutMs = busyTimeoutMs }: BusyRetries,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) throw stillBusy(timeoutMs, error)
    }
    onWait(timeoutMs)
    await Bun.sleep(pauseMs)
  }
}

function stillBusy(timeoutMs: number, cause: unknown): Error {
  const seconds = timeoutMs / 1000
  return serviceUnavailable(`The database is still busy after ${seconds} s. Try again later.`, cause)
}

/** The same runner for a command: it repeats what a busy database rejects. */
export function patientRunner(runner: ScriptRunner, retries: BusyRetries): ScriptRunner {
  /** The runner itself waits for locks for a while, before it rejects. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    const timer = setTimeout(retries.onWait, momentMs, retries.timeoutMs ?? busyTimeoutMs)
    try {
      return await retryWhileBusy(work, retries)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    transact: (script) => patiently(() => runner.transact(script)),
    write: (script) => patiently(() => runner.write(script)),
    read: (script) => patiently(() => runner.read(script)),
    subtractSums: runner.subtractSums,
  }
}
