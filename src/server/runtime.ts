import type { RunEnvironment } from '../api/responses/background/run.ts'
import { createBilling } from '../gateway/billing/billing.ts'
import { type Configuration, type ConfigurationInput, configure } from '../gateway/configuration.ts'
import { createGateway, type Gateway } from '../gateway/gateway.ts'
import type { NetworkOverrides } from '../lib/pinned-fetch.ts'
import { RouteSpeeds } from '../gateway/billing/unfinished-answer.ts'
import { createProviderStates } from '../gateway/provider-states.ts'
import { CircuitBreaker } from '../gateway/routing/circuit-breaker.ts'
import { SessionRoutes } from '../gateway/routing/sessions.ts'
import { gatewayStopping } from '../lib/errors/errors.ts'
import type { Log } from '../lib/log.ts'
import { settleWithin } from '../lib/time.ts'
import { type Observability, startObservability } from '../observability/observability.ts'
import type { OtherLiveEvents } from '../observability/live-requests.ts'
import type { LogOutput } from '../observability/request-log/request-log.ts'
import { openStorage } from '../storage/open-storage.ts'
import type { DatabaseLocation } from '../storage/database-location.ts'
import type { Storage, StorageOptions } from '../storage/ports/storage.ts'
import { createApp } from './app.ts'
import { createFirstKeys, type FirstKeys } from './first-keys.ts'
import { type MaintenanceOptions, settleReservations, startMaintenance } from './maintenance.ts'
import { createRuntimeProcess, type RuntimeProcess } from './runtime-process.ts'
import { createServices, type OtherMetrics, type Services } from './services.ts'
import { type LazyRoute, warmUp } from './warm-up.ts'

/** The settings, the database and the outputs of a gateway process. */
export type RuntimeInput = RuntimeOptions & {
  readonly database: DatabaseLocation
  readonly log: Log
  /** The output of the request log; absent: no log. */
  readonly requestLines?: LogOutput
  /** See `GatewayDependencies`. */
  readonly firstEventTimeoutMs?: number
  /** Likewise. */
  readonly usageTimeoutMs?: number
  /** Milliseconds for which a request waits for memory; default 10,000. */
  readonly memoryWaitMs?: number
  /** The monotonic clock of the rate limits and the circuit breaker, in milliseconds. */
  readonly clock?: () => number
  /** The clock of the periods of budgets, in milliseconds since 1970. */
  readonly now?: () => number
  /** See `GatewayDependencies`. */
  readonly images?: NetworkOverrides
  /** Absent: no other process serves the same port. */
  readonly otherMetrics?: OtherMetrics
  /** Likewise. */
  readonly otherLiveEvents?: OtherLiveEvents
  /** The log of warnings about the settings and of model discovery; default: `log`. */
  readonly settingsLog?: Log
}

type RuntimeOptions = ConfigurationInput & MaintenanceOptions & Omit<StorageOptions, 'alerts' | 'clock'>

/** A running gateway. */
export type Runtime = {
  fetch(request: Request): Response | Promise<Response>
  /** Attaches the HTTP server, which knows the addresses of clients. */
  readonly attachServer: Services['connections']['setServer']
  /** All routes of the application. */
  routes(): readonly Route[]
  /** The active configuration. */
  configuration(): Configuration
  readonly process: RuntimeProcess
  /** Applies other settings atomically; throws and changes nothing if they are not valid. */
  reload(input: ConfigurationInput): Promise<void>
  readonly firstKeys: FirstKeys
  /** Prepares for the first request; a failure leaves that to the request itself. */
  warmUp(): Promise<void>
  /** Stops readiness and rejects new calls; other requests are still served. */
  drain(): void
  /** Resolves when no call is open after `drain`. */
  drained(): Promise<void>
  /** Aborts the open calls, streams with an error frame; returns their number. */
  abortCalls(): number
  /** Stops all services and closes the database. */
  stop(): Promise<void>
}

/** A route of the application. */
export type Route = { readonly method: string; readonly path: string }

/**
 * Validates the settings, opens the database and recovers what a killed process left; stops what it has started if that
 * fails.
 */
export async function createRuntime(input: RuntimeInput): Promise<Runtime> {
  await using services = new AsyncDisposableStack()
  const runtime = await startServices(input, services)
  const started = services.move()
  return { ...runtime, stop: () => started.disposeAsync() }
}

/** Adds what it starts to `services`, which end in the opposite order. */
async function startServices(input: RuntimeInput, services: AsyncDisposableStack) {
  const { log, settingsLog = log } = input
  const initial = configure(input, settingsLog)
  const observation = await startRuntimeObservation(input, { shared: () => shared, active: () => active })
  services.defer(() => observation.stop())
  const alerts = () => active.configuration.alerts
  const { storage, firstKeys } = await startStorage({ ...input, alerts }, services)
  const shared = createServices(input, storage, observation, () => active)
  const { calls, runs, connections } = shared
  let active = await createActiveApp(initial, shared)
  services.defer(() => active.configuration.models.stop())
  services.defer(() => runs.stop())
  await recover(shared).catch(throwProblemOf(storage))
  const maintenance = startMaintenance(shared, input, () => active)
  services.defer(() => maintenance.stop())
  return {
    fetch: (request: Request) => active.fetch(request),
    attachServer: connections.setServer,
    routes: () => active.routes,
    configuration: () => active.configuration,
    process: createRuntimeProcess(observation, storage),
    async reload(next: ConfigurationInput) {
      const { models } = active.configuration
      active = await createActiveApp(configure(next, settingsLog), shared)
      runs.schedule()
      await models.stop()
    },
    firstKeys,
    warmUp: () => warmUp(active.routes, storage.keys).catch(() => {}),
    drain() {
      calls.rejectNew()
      observation.live.close()
      runs.pause()
    },
    async drained() {
      await Promise.all([calls.idle(), runs.idle()])
    },
    abortCalls: calls.abort,
  }
}

async function startStorage(
  { database, environment, log, ...options }: RuntimeInput & Pick<StorageOptions, 'alerts'>,
  services: AsyncDisposableStack,
) {
  const storage = await openStorage(database, log, options)
  services.defer(() => storage.close())
  return { storage, firstKeys: await createFirstKeys(storage, environment) }
}

/** Adopts or settles what processes that have ended left open, before the first request. */
async function recover(services: Services): Promise<void> {
  await services.runs.begin()
  await settleReservations(services)
}

/** Returns a function that rejects with the problem of the database if it has one, and with the error otherwise. */
function throwProblemOf({ readiness }: Storage): (error: unknown) => Promise<never> {
  return async (error) => {
    await readiness.probe()
    throw error
  }
}

/** A provider that lists its models slowly must not delay the start; its models are added later. */
const startupDiscoveryTimeoutMs = 1000

/** The application of the active settings. */
type ActiveApp = {
  readonly configuration: Configuration
  readonly runEnvironment: RunEnvironment
  readonly routes: readonly LazyRoute[]
  readonly breaker: CircuitBreaker
  fetch(request: Request): Response | Promise<Response>
}

/** Creates an application for these settings. Open calls of an earlier one keep its settings. */
async function createActiveApp(configuration: Configuration, shared: Services): Promise<ActiveApp> {
  const { settings, models } = configuration
  const { storage } = shared
  await settleWithin(models.start(), startupDiscoveryTimeoutMs)
  const breaker = new CircuitBreaker(settings.breaker, shared.clock)
  shared.queues.configure(configuration.providers.configured.values())
  const gateway = createGateway({
    ...shared,
    billing: createBilling(storage.ledger, storage.readiness.ready, shared.now),
    breaker,
    sessions: new SessionRoutes(shared.clock),
    retries: settings.retries.attempts,
    states: createProviderStates(storage.providerState),
    speeds: new RouteSpeeds(),
    userHashKey: settings.userHashKey,
    observer: shared.requests,
  })
  const app = createApp({
    ...shared,
    addressOf: shared.connections.addressOf,
    keys: storage.keys,
    completions: storage.completions,
    responses: storage.responses,
    usageBuckets: storage.usageBuckets,
    admin: { ...shared.admin, configuration, breaker, queues: shared.queues, clock: shared.clock },
    settings,
    models: models.current,
    gateway,
    ready: createReadinessCheck(shared),
  })
  const runEnvironment = createRunEnvironment(configuration, gateway)
  return { configuration, runEnvironment, breaker, routes: app.routes, fetch: app.fetch }
}

function createRunEnvironment({ settings, models }: Configuration, gateway: Gateway): RunEnvironment {
  return {
    gateway,
    models: models.current,
    unsupported: settings.unsupportedParameters,
    functionTools: settings.compatibility.functionTools,
    concurrency: settings.background.concurrency,
    maxQueued: settings.background.maxQueued,
  }
}

function createReadinessCheck({ calls, storage }: Services): () => Promise<void> {
  return async () => {
    if (calls.isRejecting()) throw gatewayStopping()
    await storage.readiness.probe()
  }
}

/** Runs before the database is opened: an invalid collector address must not create or change one. */
function startRuntimeObservation(
  { environment, log, requestLines, otherLiveEvents }: RuntimeInput,
  { shared, active }: { readonly shared: () => Services; readonly active: () => ActiveApp },
): Promise<Observability> {
  return startObservability({
    environment,
    log,
    output: requestLines,
    otherLiveEvents,
    logged: () => active().configuration.settings.log,
    figures: {
      openCircuits: () => active().breaker.openCircuits(),
      database: () => shared().storage.writerStats(),
      memory: () => shared().memory.held,
      queues: () => shared().queues.status(),
      runs: () => shared().runs.counts(),
      processes: () => shared().storage.peers.count(),
    },
  })
}
