import { serviceUnavailable } from '../../../lib/errors/errors.ts'

/** For the end of a cancelled run to be stored, while the client waits. */
export const cancelTimeoutMs = 10_000

/** 503: the run is cancelled, but its end is not stored in that time. */
export function endNotStored(): Error {
  return serviceUnavailable('The result of the background run could not be stored yet. Try again.')
}
