import { recoverRuns } from '../api/responses/background/recovery.ts'
import type { Run, RunEnvironment } from '../api/responses/background/run.ts'
import type { Peers } from '../api/system/metrics-page.ts'
import { createBilling } from '../gateway/billing/billing.ts'
import { type Configuration, type ConfigurationInput, configure } from '../gateway/configuration.ts'
import { createGateway } from '../gateway/generate.ts'
import type { NetworkOverrides } from '../gateway/images/pinned-fetch.ts'
import { createProviderStates } from '../gateway/provider-states.ts'
import type { RateLimits } from '../gateway/rate-limits/rate-limits.ts'
import { type CircuitBreaker, createCircuitBreaker } from '../gateway/routing/circuit-breaker.ts'
import { gatewayStopping } from '../lib/errors/errors.ts'
import type { Log } from '../lib/log.ts'
import { settleWithin } from '../lib/time.ts'
import { type Observation, startObservation } from '../observability/observation.ts'
import type { LogOutput } from '../observability/request-log/request-log.ts'
import { startRetention } from '../storage/retention.ts'
import type { NewKey } from '../storage/ports/keys.ts'
import { openStorage } from '../storage/storage.ts'
import type { Storage } from '../storage/ports/storage.ts'
import { createApp } from './app.ts'
import { createSharedServices, type SharedServices } from './shared-services.ts'

export type RuntimeInput = ConfigurationInput & {
  /** The path of the database, or `:memory:`. */
  readonly database: string
  readonly log: Log
  /** Where a line goes for each request; nowhere if absent. */
  readonly requestLines?: LogOutput
  /** Milliseconds; see `GatewayParts`. */
  readonly patience?: number
  /** The steady clock of the limits and of the breaker. */
  readonly clock?: () => number
  /** See `GatewayParts`. */
  readonly images?: NetworkOverrides
  /** Milliseconds from one sweep of what has expired to the next. */
  readonly sweepInterval?: number
}

/** A gateway with all that it holds: it serves until it is stopped. */
export type Runtime = {
  fetch(request: Request): Response | Promise<Response>
  /** Names the server that takes the requests: it knows who asks. */
  servedBy(peers: Peers): void
  /** Every route that is served. */
  routes(): readonly Route[]
  /** What is served now. */
  configuration(): Configuration
  /** Puts other settings in force, all at once; throws, and changes nothing, where they are not good. */
  reload(input: ConfigurationInput): Promise<void>
  /** The first key of a new database, to be shown once; not one that the operator gave. */
  readonly firstKey: NewKey | undefined
  /** From now on the gateway is not ready and takes no new calls, though it serves all else. */
  drain(): void
  /** Resolves when it was told to drain and no call is open. */
  drained(): Promise<void>
  /** Ends the calls that are open, streams with an error frame, and tells how many there were. */
  cut(): number
  /** Lets go of everything; nothing is served after it. */
  stop(): Promise<void>
}

export type Route = { readonly method: string; readonly path: string }

/** Milliseconds. */
const usualSweepInterval = 10 * 60_000

/** Checks the settings, opens the database and begins to serve. */
export async function createRuntime(input: RuntimeInput): Promise<Runtime> {
  const { log, environment, sweepInterval = usualSweepInterval } = input
  const first = configure(input, log)
  const observation = await observe(input, { shared: () => shared, serving: () => serving })
  const storage = openStorage(input.database, log)
  const firstKey = await storage.bootstrap(environment.WEIR_BOOTSTRAP_KEY)
  const shared = createSharedServices(input, storage, observation, () => serving)
  const { calls, runs, metrics } = shared
  const waiting = await recover(first, storage, shared.limits, log)
  let serving = await serve(first, shared)
  waiting.forEach(runs.add)
  const sweeping = startRetention(storage, () => serving.configuration.settings.retention, sweepInterval, log)
  return {
    fetch: (request) => serving.fetch(request),
    servedBy: metrics.servedBy,
    routes: () => serving.routes,
    configuration: () => serving.configuration,
    async reload(next) {
      const { models } = serving.configuration
      serving = await serve(configure(next, log), shared)
      runs.schedule()
      await models.stop()
    },
    firstKey: environment.WEIR_BOOTSTRAP_KEY ? undefined : firstKey,
    drain() {
      calls.refuseNew()
      runs.pause()
    },
    drained: () => quiet(shared),
    cut: calls.cut,
    async stop() {
      sweeping.stop()
      await runs.stop()
      await serving.configuration.models.stop()
      storage.close()
      await observation.stop()
    },
  }
}

/** Milliseconds. A provider that is slow to list its models must not keep the others waiting; its models come later. */
const discoveryAtStart = 1000

async function quiet({ calls, runs }: SharedServices): Promise<void> {
  await Promise.all([calls.idle(), runs.idle()])
}

type Serving = {
  readonly configuration: Configuration
  /** What a background run begins with. */
  readonly begin: RunEnvironment
  readonly routes: readonly Route[]
  readonly breaker: CircuitBreaker
  fetch(request: Request): Response | Promise<Response>
}

/** An application of these settings. Calls that an earlier one has begun end as they began. */
async function serve(configuration: Configuration, shared: SharedServices): Promise<Serving> {
  const { settings, models } = configuration
  const { storage, limits, metrics, requests, log } = shared
  await settleWithin(models.start(), discoveryAtStart)
  const breaker = createCircuitBreaker(settings.breaker, shared.clock)
  const gateway = createGateway({
    billing: createBilling(storage.ledger, storage.readiness.ready),
    calls: shared.calls,
    breaker,
    retries: settings.retries.attempts,
    states: createProviderStates(storage.states),
    patience: shared.patience,
    images: shared.images,
    observer: requests,
    log,
  })
  const { keys, completions, responses } = storage
  const { live, runs } = shared
  const stored = { keys, completions, responses, live, runs }
  const app = createApp({
    ...stored,
    settings,
    models: models.current,
    gateway,
    limits,
    ready: readinessOf(shared),
    metrics,
    requests,
    log,
  })
  const begin = {
    gateway,
    models: models.current,
    unsupported: settings.unsupportedParameters,
    concurrency: settings.background.concurrency,
    maxQueued: settings.background.maxQueued,
  }
  return { configuration, begin, breaker, routes: app.routes, fetch: app.fetch }
}

function readinessOf({ calls, storage }: SharedServices): () => Promise<void> {
  return async () => {
    if (calls.refusing()) throw gatewayStopping()
    await storage.readiness.examine()
  }
}

/** Begins before the database is opened: a bad address of a collector must not make or change one. */
function observe(
  { environment, log, requestLines }: RuntimeInput,
  { shared, serving }: { readonly shared: () => SharedServices; readonly serving: () => Serving },
): Promise<Observation> {
  return startObservation({
    environment,
    log,
    output: requestLines,
    logged: () => serving().configuration.settings.log,
    figures: {
      leftAlone: () => serving().breaker.openCircuits(),
      database: () => shared().storage.figures(),
      memory: () => shared().memory.held,
      runs: () => shared().runs.counts(),
    },
  })
}

/** What a killed process left open is charged before anything new is; the runs that wait go on. */
async function recover(
  { models }: Configuration,
  { responses, ledger, keys }: Storage,
  limits: RateLimits,
  log: Log,
): Promise<readonly Run[]> {
  const { waiting, failed } = await recoverRuns({
    responses,
    ledger,
    keys,
    limits,
    models: models.current,
    log,
  })
  const goOn = new Set(waiting.map(({ facts }) => facts.id))
  const settled = await ledger.recover((request) => goOn.has(request))
  if (settled > 0) log.warn('Requests that a killed process left open were settled.', { requests: settled })
  if (failed > 0) log.warn('Background runs that a killed process left have failed.', { runs: failed })
  return waiting
}
