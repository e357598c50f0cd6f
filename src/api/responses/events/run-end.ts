import { ApiError, internalError } from '../../../lib/errors.ts'
import type { RunEnd, RunUsage } from './run-event.ts'

/** How a call that ended, whole or with this error, ends its response; what was used is known once it has begun. */
export function endOf(error: unknown, usage: RunUsage | null, now: number = Date.now()): RunEnd {
  if (error === undefined && usage) return { type: 'ended', at: Math.floor(now / 1000), usage }
  const known = error instanceof ApiError ? error : internalError(error)
  if (known.status === 499) return { type: 'cancelled', usage }
  const { code, type, message, param } = known
  return { type: 'failed', code: code ?? type, message, param, usage }
}
