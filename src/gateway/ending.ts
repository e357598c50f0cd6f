import { ApiError, clientGone } from '../lib/errors.ts'
import type { Stopping } from '../lib/stop.ts'

/** How a call comes to its end. */
export type Ending = {
  /**
   * It is over: whole, or with this error. Resolves once that is in the books. Only the first word counts; whoever
   * comes later waits for the same.
   */
  over(error?: unknown): Promise<void>
}

/**
 * Calls `end` once, on whichever way out comes first; a caller who leaves is one, wherever the call then is, and
 * then `end` is awaited by nobody: what it throws goes to `failed`.
 */
export function createEnding(
  signal: Stopping,
  end: (error: unknown) => Promise<void>,
  failed: (error: unknown) => void,
): Ending {
  let ended: Promise<void> | undefined
  const over = (error?: unknown) => {
    signal.removeEventListener('abort', left)
    return (ended ??= end(error))
  }
  const left = () => void over(reasonOf(signal)).catch(failed)
  if (signal.aborted) left()
  else signal.addEventListener('abort', left)
  return { over }
}

/** Why the call was given up: its caller has left, unless whoever gave it up says more. */
export function reasonOf(signal: Stopping): ApiError {
  return signal.reason instanceof ApiError ? signal.reason : clientGone()
}
