import { causeOf, type Log } from '../../lib/log.ts'

/** For rows that could not be written at once, while nothing was promised to anybody. */
export function logFailedSettlement(log: Log): (error: unknown) => void {
  return (error) => log.error('The usage of a request was not written at once.', { cause: causeOf(error) })
}
