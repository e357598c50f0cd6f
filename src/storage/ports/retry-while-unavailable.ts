import { ApiError } from '../../lib/errors/errors.ts'
import { wait } from '../../lib/time.ts'

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
