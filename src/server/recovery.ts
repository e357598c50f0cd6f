import { recoverRuns } from '../api/responses/background/recovery.ts'
import type { Run } from '../api/responses/background/run.ts'
import type { Configuration } from '../gateway/configuration.ts'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import type { Log } from '../lib/log.ts'
import type { Storage } from '../storage/ports/storage.ts'

/** Settles the requests that processes which are gone left open, and returns their background runs that are still queued. */
export async function recover(
  { models }: Configuration,
  { responses, ledger, keys }: Storage,
  limits: RateLimits,
  log: Log,
): Promise<readonly Run[]> {
  const { queued: waiting, failed } = await recoverRuns({
    responses,
    ledger,
    keys,
    limits,
    models: models.current,
    log,
  })
  const continuing = new Set(waiting.map(({ metadata: facts }) => facts.id))
  const settled = await ledger.recover((request) => continuing.has(request))
  if (settled > 0) log.warn('Open requests of a process that was killed were settled.', { requests: settled })
  if (failed > 0) log.warn('Background runs of a process that was killed have failed.', { runs: failed })
  return waiting
}
