import { ApiError } from '../../lib/errors/errors.ts'
import { wait } from '../../lib/time.ts'

/** For a request to wait for a database that does not answer, before it is rejected with 503. */
export const callerTimeoutMs = 2000

/** Tells before a request starts whether the store will be able to record its end. */
export type Readiness = {
  /**
   * Throws or rejects with 503 if a write would fail; undefined if the store is known to work. Writes only if nothing
   * was written for a while, and waits only if another process holds the lock.
   */
  ready(): Promise<void> | undefined
  /**
   * Writes a probe; rejects with a 503 whose message names the problem. Concurrent callers share one probe, and its
   * result is reused for a moment, unless the store has failed or recovered since.
   */
  probe(): Promise<void>
}

/** Counters of the writer since the start. */
export type WriterStats = {
  /** Writes that wait for a transaction. */
  readonly waiting: number
  /** Committed transactions, and the seconds that they took. */
  readonly commits: number
  readonly seconds: number
  /** Transactions that were rolled back. */
  readonly failed: number
}

const retryIntervalMs = 1000

/**
 * Repeats the work while the database is unavailable (503), and resolves with its value. Rejects with any other error of
 * the work, or with the reason of the signal when that aborts first.
 */
export async function retryWhileUnavailable<Value>(
  work: () => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      await wait(retryIntervalMs, signal)
    }
  }
}

/** Whether the database was unavailable. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503
}
