import type { Log } from '../lib/log.ts'
import { report, toApiError } from './errors.ts'

/**
 * The frame that tells an error in the middle of a stream, whose status is long sent. Nothing follows it, so that
 * a stream that broke never looks complete.
 */
export function failureFrame(error: unknown, log: Log, requestId: string): string {
  const told = toApiError(error)
  report(log, told, requestId)
  return `data: ${JSON.stringify(told.toBody())}\n\n`
}
