import { createApp } from './app.ts'
import { SettingsError } from './config/problem.ts'
import type { Settings } from './config/settings.ts'
import { createBooks } from './gateway/books.ts'
import { createBreaker } from './gateway/breaker.ts'
import { createGateway } from './gateway/generate.ts'
import { createLimits } from './gateway/limits.ts'
import { createModelRegistry, type ModelRegistry } from './gateway/model-registry.ts'
import { createProviderStates } from './gateway/provider-states.ts'
import { serviceUnavailable } from './lib/errors.ts'
import { causeOf, type Log } from './lib/log.ts'
import { repeatEvery } from './lib/repeating.ts'
import { configureProviders, type ProviderSet } from './providers/configure.ts'
import { bootstrap } from './storage/bootstrap.ts'
import { openDatabase } from './storage/database.ts'
import { createKeyDirectory } from './storage/key-directory.ts'
import type { NewKey } from './storage/keys.ts'
import { createLedger, type Ledger } from './storage/ledger.ts'
import { probeWrites } from './storage/probe.ts'
import { createProviderState, type ProviderState } from './storage/provider-state.ts'
import { createWriter } from './storage/writer.ts'

export type RuntimeInput = {
  readonly settings: Settings
  /** Where the settings came from, for what is said of them. */
  readonly file: string | null
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The path of the database, or `:memory:`. */
  readonly database: string
  readonly log: Log
  /** Milliseconds; see `GatewayParts`. */
  readonly patience?: number
  /** The steady clock of the limits. */
  readonly clock?: () => number
}

/** A gateway with all that it holds: it serves until it is stopped. */
export type Runtime = {
  readonly app: ReturnType<typeof createApp>
  readonly models: ModelRegistry
  readonly providers: ProviderSet
  /** The first key of a new database, to be shown once; not one that the operator gave. */
  readonly firstKey: NewKey | undefined
  /** From now on the gateway is not ready, though it serves what still comes. */
  drain(): void
  /** Lets go of everything; nothing is served after it. */
  stop(): Promise<void>
}

/** Seconds of silence from a provider that has accepted a stream, until the caller gets the status all the same. */
const patience = 10_000
const sweepInterval = 10 * 60_000

/** Opens the database, configures the providers and puts the application together. */
export async function createRuntime(input: RuntimeInput): Promise<Runtime> {
  const { settings, environment, log } = input
  const providers = configureProviders(settings, environment)
  const models = createModelRegistry(settings.models, providers, log)
  const problems = [...providers.problems, ...models.current().problems]
  if (problems.length > 0) throw new SettingsError(problems, input.file)
  const database = openDatabase(input.database, log)
  const writer = createWriter(database)
  const given = environment.WEIR_BOOTSTRAP_KEY
  const firstKey = await bootstrap(database, writer, given)
  const stored = createProviderState(database, writer)
  const sweeping = keepSwept(stored, log)
  const ledger = createLedger(database, writer)
  await recovered(ledger, log)
  const gateway = createGateway({
    books: createBooks(ledger),
    log,
    breaker: createBreaker(settings.breaker),
    retries: settings.retries.attempts,
    states: createProviderStates(stored),
    patience: input.patience ?? patience,
  })
  let draining = false
  const ready = async () => {
    if (draining) throw serviceUnavailable('The gateway is stopping.')
    await probeWrites(database, writer)
  }
  const keys = createKeyDirectory(database)
  const limits = createLimits(settings.limits, input.clock)
  await models.start()
  return {
    app: createApp({ settings, models: models.current, gateway, keys, limits, ready, log }),
    models,
    providers,
    firstKey: given ? undefined : firstKey,
    drain: () => void (draining = true),
    async stop() {
      sweeping.stop()
      await models.stop()
      writer.close()
      database.close()
    },
  }
}

/** What a killed process left open is charged before anything new is. */
async function recovered(ledger: Ledger, log: Log): Promise<void> {
  const settled = await ledger.recover()
  if (settled > 0) log.warn('Requests that a killed process left open were settled.', { requests: settled })
}

function keepSwept(stored: ProviderState, log: Log) {
  const failed = (error: unknown) => log.warn('Expired rows were not deleted.', { cause: causeOf(error) })
  return repeatEvery(sweepInterval, () => stored.sweep(), failed)
}
