import { ApiError } from '../../../lib/errors/errors.ts'
import { wait } from '../../../lib/time.ts'

/** Milliseconds. */
const pause = 1000

/**
 * Does the work again and again while the database is away (503), and gives what it gives at last. Rejects with its
 * other errors, or with the signal's reason when that fires first.
 */
export async function untilStored<Value>(work: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 503) throw error
      await wait(pause, signal)
    }
  }
}
