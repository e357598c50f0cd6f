import type { Configuration } from '../gateway/configuration.ts'
import { causeOf } from '../lib/log.ts'
import type { MembershipReactions } from '../storage/membership.ts'
import { startRetention, startUsageRollup } from '../storage/retention.ts'
import { recover } from './recovery.ts'
import type { SharedServices } from './shared-services.ts'

export type MaintenanceOptions = {
  readonly sweepIntervalMs?: number
}

const defaultSweepIntervalMs = 10 * 60_000

/**
 * Starts what a gateway does beside its requests: it deletes expired data, keeps the totals of usage, ends the streams of
 * revoked keys, and settles what other processes of the database leave open. Stopping it also stops the membership.
 */
export function startMaintenance(
  services: SharedServices,
  { sweepIntervalMs = defaultSweepIntervalMs }: MaintenanceOptions,
  configuration: () => Configuration,
): { stop(): void } {
  const { storage, membership, keyWatch, log } = services
  // One process is enough for all.
  const isDue = () => membership?.isFirst() ?? true
  const retention = () => configuration().settings.retention
  const sweeping = startRetention(storage, { retention, sweepIntervalMs, isDue }, log)
  const rollup = startUsageRollup(storage, isDue, log)
  const watching = keyWatch.start((cause) =>
    log.error('API keys could not be checked.', { cause: causeOf(cause) }),
  )
  membership?.react(createReactions(services, configuration))
  return {
    stop() {
      sweeping.stop()
      rollup.stop()
      watching.stop()
      membership?.stop()
    },
  }
}

/** What happens when other processes of the database are gone, and when this one was taken for dead. */
function createReactions(
  { calls, runs, storage, limits, log }: SharedServices,
  configuration: () => Configuration,
): MembershipReactions {
  return {
    async settleAbandoned() {
      await recover(configuration(), storage, limits, log)
      await runs.exchange?.recover()
    },
    onRemoved() {
      calls.abortOpen()
      runs.exchange?.fenced()
    },
    // If it fails, the next beat repeats it in time.
    onBeat: () => void storage.responses.postponeErasures().catch(() => {}),
  }
}
