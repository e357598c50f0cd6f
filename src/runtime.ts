import { createApp } from './app.ts'
import { createBooks } from './gateway/money/books.ts'
import { createBreaker } from './gateway/breaker.ts'
import { type Configuration, type ConfigurationInput, configure } from './gateway/configuration.ts'
import { createGateway } from './gateway/generate.ts'
import { createLimits, type Limits } from './gateway/limits/limits.ts'
import type { Surroundings } from './gateway/images/pinned-fetch.ts'
import { createProviderStates } from './gateway/provider-states.ts'
import { atMost } from './lib/at-most.ts'
import { serviceUnavailable } from './lib/errors.ts'
import { causeOf, type Log } from './lib/log.ts'
import { repeatEvery } from './lib/repeating.ts'
import type { Ledger } from './storage/ledger.ts'
import type { NewKey } from './storage/keys.ts'
import { openStorage, type Storage } from './storage/storage.ts'

export type RuntimeInput = ConfigurationInput & {
  /** The path of the database, or `:memory:`. */
  readonly database: string
  readonly log: Log
  /** Milliseconds; see `GatewayParts`. */
  readonly patience?: number
  /** The steady clock of the limits. */
  readonly clock?: () => number
  /** See `GatewayParts`. */
  readonly images?: Surroundings
}

/** A gateway with all that it holds: it serves until it is stopped. */
export type Runtime = {
  fetch(request: Request): Response | Promise<Response>
  /** Every route that is served. */
  routes(): readonly Route[]
  /** What is served now. */
  configuration(): Configuration
  /** Puts other settings in force, all at once; throws, and changes nothing, where they are not good. */
  reload(input: ConfigurationInput): Promise<void>
  /** The first key of a new database, to be shown once; not one that the operator gave. */
  readonly firstKey: NewKey | undefined
  /** From now on the gateway is not ready, though it serves what still comes. */
  drain(): void
  /** Lets go of everything; nothing is served after it. */
  stop(): Promise<void>
}

export type Route = { readonly method: string; readonly path: string }

/** Milliseconds of silence from a provider that accepted a stream, until the caller gets the status all the same. */
const patience = 10_000

/** Checks the settings, opens the database and begins to serve. */
export async function createRuntime(input: RuntimeInput): Promise<Runtime> {
  const { log, environment } = input
  const first = configure(input, log)
  const storage = openStorage(input.database, log)
  const firstKey = await storage.bootstrap(environment.WEIR_BOOTSTRAP_KEY)
  await recover(storage.ledger, log)
  const sweeping = keepSwept(storage, log)
  let draining = false
  const limits = createLimits(() => serving.configuration.settings.limits, input.clock)
  const { images } = input
  const shared = {
    storage,
    limits,
    draining: () => draining,
    patience: input.patience ?? patience,
    images,
    log,
  }
  let serving = await serve(first, shared)
  return {
    fetch: (request) => serving.fetch(request),
    routes: () => serving.routes,
    configuration: () => serving.configuration,
    async reload(next) {
      const { models } = serving.configuration
      serving = await serve(configure(next, log), shared)
      await models.stop()
    },
    firstKey: environment.WEIR_BOOTSTRAP_KEY ? undefined : firstKey,
    drain: () => void (draining = true),
    async stop() {
      sweeping.stop()
      await serving.configuration.models.stop()
      storage.close()
    },
  }
}

/** Milliseconds. A provider that is slow to list its models must not keep the others waiting; its models come later. */
const discoveryAtStart = 1000

/** What outlives a change of settings. */
type Shared = {
  readonly storage: Storage
  readonly limits: Limits
  readonly draining: () => boolean
  readonly patience: number
  readonly images?: Surroundings | undefined
  readonly log: Log
}

type Serving = {
  readonly configuration: Configuration
  readonly routes: readonly Route[]
  fetch(request: Request): Response | Promise<Response>
}

/** An application of these settings. Calls that an earlier one has begun end as they began. */
async function serve(configuration: Configuration, shared: Shared): Promise<Serving> {
  const { settings, models } = configuration
  const { storage, limits, log } = shared
  await atMost(models.start(), discoveryAtStart)
  const gateway = createGateway({
    books: createBooks(storage.ledger),
    breaker: createBreaker(settings.breaker),
    retries: settings.retries.attempts,
    states: createProviderStates(storage.states),
    patience: shared.patience,
    images: shared.images,
    log,
  })
  const ready = async () => {
    if (shared.draining()) throw serviceUnavailable('The gateway is stopping.')
    await storage.probe()
  }
  const { keys } = storage
  const app = createApp({ settings, models: models.current, gateway, keys, limits, ready, log })
  return { configuration, routes: app.routes, fetch: app.fetch }
}

/** What a killed process left open is charged before anything new is. */
async function recover(ledger: Ledger, log: Log): Promise<void> {
  const settled = await ledger.recover()
  if (settled > 0) log.warn('Requests that a killed process left open were settled.', { requests: settled })
}

const sweepInterval = 10 * 60_000

function keepSwept({ states }: Storage, log: Log) {
  const failed = (error: unknown) => log.warn('Expired rows were not deleted.', { cause: causeOf(error) })
  return repeatEvery(sweepInterval, () => states.sweep(), failed)
}
