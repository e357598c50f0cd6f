import type { Log } from '../lib/log.ts'
import { report, toApiError } from './errors.ts'

/**
 * The frame that tells an error in the middle of a stream, whose status is long sent. Nothing follows it, so that
 * a stream that broke never looks complete.
 */
export function failureFrame(error: unknown, log: Log, requestId: string): string {
  const told = toApiError(error)
  // A client that left is none of the gateway's failures, and reads nothing of this.
  if (told.status >= 500) report(log, told, requestId)
  return `data: ${JSON.stringify(told.toBody())}\n\n`
}
