import type { Configuration } from '../gateway/configuration.ts'
import type { CircuitBreaker } from '../gateway/routing/circuit-breaker.ts'
import { startDeliverer } from '../gateway/webhooks/deliverer.ts'
import { isWanted } from '../gateway/webhooks/endpoints.ts'
import { createProviderAlerts } from '../gateway/webhooks/provider-alerts.ts'
import { causeOf } from '../lib/log.ts'
import type { PeerHandlers } from '../storage/ports/peers.ts'
import { startBudgetReturns, startRetention, startUsageRollup } from '../storage/retention.ts'
import { startMemoryRelease } from './memory-release.ts'
import type { Services } from './services.ts'

export type MaintenanceOptions = {
  /** Between two deletions of expired data. */
  readonly sweepIntervalMs?: number | undefined
  /** Between two searches for events to send to webhooks. */
  readonly webhookIntervalMs?: number | undefined
  /** Between two checks of the keys of open streams. */
  readonly keyCheckIntervalMs?: number | undefined
}

/** The active settings, and the circuits of their routes. */
type ActiveConfiguration = {
  readonly configuration: Pick<Configuration, 'settings' | 'alerts'>
  readonly breaker: Pick<CircuitBreaker, 'openCircuits'>
}

const defaultSweepIntervalMs = 10 * 60_000

/**
 * Starts what a gateway does beside its requests: it deletes expired data, keeps the totals of usage, returns the budgets
 * of minted keys, ends the streams of revoked keys, sends the events for webhooks, settles what other processes of the
 * database leave open, and releases memory while there are no calls.
 */
export function startMaintenance(
  services: Services,
  options: MaintenanceOptions,
  active: () => ActiveConfiguration,
): { stop(): Promise<void> } {
  const { sweepIntervalMs = defaultSweepIntervalMs } = options
  const { storage, keyWatch, log } = services
  // One process is enough for all.
  const isDue = () => storage.peers.isFirst()
  const retention = () => active().configuration.settings.retention
  const alerts = () => active().configuration.alerts
  const sweeping = startRetention(storage, { retention, alerts, sweepIntervalMs, isDue }, log)
  const rollup = startUsageRollup(storage, isDue, log)
  const returns = startBudgetReturns(storage, isDue, log)
  const watching = keyWatch.start(
    (cause) => log.error('API keys could not be checked.', { cause: causeOf(cause) }),
    options.keyCheckIntervalMs,
  )
  const peers = storage.peers.watch(createPeerHandlers(services))
  const webhooks = startWebhooks(services, options, active)
  const memory = startMemoryRelease(services.requests)
  return {
    stop() {
      sweeping.stop()
      rollup.stop()
      returns.stop()
      watching.stop()
      peers.stop()
      memory.stop()
      return webhooks.stop()
    },
  }
}

/** Sends events to the endpoints of the settings, and finds out which providers are down. */
function startWebhooks(
  { storage, lastSuccess, log }: Services,
  { webhookIntervalMs: intervalMs }: MaintenanceOptions,
  active: () => ActiveConfiguration,
): { stop(): Promise<void> } {
  const { webhooks } = storage.managed
  const endpoints = () => active().configuration.settings.webhooks
  const openCircuits = () => active().breaker.openCircuits()
  const checkProviders = createProviderAlerts({ webhooks, openCircuits, lastSuccess })
  const check = async () => {
    if (isWanted(endpoints(), 'provider.down', 'provider.up')) await checkProviders()
  }
  return startDeliverer({ webhooks, endpoints, check, intervalMs, log })
}

/** Handlers for the eviction of peers and of this process. */
function createPeerHandlers(services: Services): PeerHandlers {
  const { calls, runs } = services
  return {
    async settleAbandoned() {
      await runs.recover()
      await settleReservations(services)
    },
    onEvicted() {
      calls.abortOpen()
      runs.onEvicted()
    },
  }
}

/** Settles the requests that processes which have ended left open. */
export async function settleReservations({ storage, log }: Pick<Services, 'storage' | 'log'>): Promise<void> {
  const settled = await storage.ledger.recover()
  if (settled > 0) log.warn('Open requests of a process that was killed were settled.', { requests: settled })
}
