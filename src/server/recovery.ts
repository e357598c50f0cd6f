import { type RecoveryDependencies, recoverRuns } from '../api/responses/background/recovery.ts'
import type { Run } from '../api/responses/background/run.ts'
import type { Configuration } from '../gateway/configuration.ts'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import type { Log } from '../lib/log.ts'
import type { Storage } from '../storage/ports/storage.ts'

/**
 * Settles the requests that processes which are gone left open, and returns their background runs that are still queued.
 * Processes that share the database claim those runs from one another instead.
 */
export async function recover(
  { models }: Configuration,
  { responses, ledger, keys, shared }: Storage,
  limits: RateLimits,
  log: Log,
): Promise<readonly Run[]> {
  // First, because the reservation of a run stays open.
  await shared?.runs.adopt()
  const waiting = shared
    ? []
    : await failStarted({ responses, ledger, keys, limits, models: models.current, log })
  const continuing = new Set(waiting.map(({ metadata }) => metadata.id))
  const settled = await ledger.recover((request) => continuing.has(request))
  if (settled > 0) log.warn('Open requests of a process that was killed were settled.', { requests: settled })
  return waiting
}

/** Returns the runs that are still queued. */
async function failStarted(parts: RecoveryDependencies): Promise<readonly Run[]> {
  const { queued, failed } = await recoverRuns(parts)
  if (failed > 0)
    parts.log.warn('Background runs of a process that was killed have failed.', { runs: failed })
  return queued
}
