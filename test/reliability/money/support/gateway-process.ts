import type { Pricing } from '../../../../src/config/model-details.ts'
import type { SettingsFile } from '../../../../src/config/settings.ts'
import { temporaryHome } from '../../../unit/config/support/temporary-home.ts'
import { type Serving, startServing } from '../../load/program.ts'
import { firstKey } from '../../../support/app.ts'
import type { DatabaseLocation } from '../../../../src/storage/database-location.ts'
import { databaseEnvironment, newDatabase } from '../../../support/database-connection.ts'
import { type BillingDatabase, openBillingDatabase } from '../../../support/billing-database.ts'

/** The program with its own data folder, which can be killed and restarted. */
export type GatewayProcess = AsyncDisposable & {
  readonly books: BillingDatabase
  readonly database: DatabaseLocation
  readonly url: () => string
  readonly pid: () => number
  /** Resolves when it listens. */
  start(): Promise<void>
  /** As the end of the power would. */
  kill(): Promise<void>
  /** Stops the process and returns its exit code. */
  stop(): Promise<number>
}

/**
 * The program in front of a provider at this address, with the model `acme/river` and with these settings beside that, on
 * a database that `create` makes. It is not started yet.
 */
export async function createGatewayProcess(
  provider: string,
  pricing: Pricing,
  settings: SettingsFile = {},
  create = newDatabase,
): Promise<GatewayProcess> {
  const home = temporaryHome({ 'work/weir.yaml': settingsFor(provider, pricing, settings) })
  const database = await create()
  const billing = await openBillingDatabase(database.location)
  const command = ['src/main.ts', 'serve', '--host', '127.0.0.1', '--port', '0']
  const environment = {
    HOME: home.place('work'),
    WEIR_CONFIG: home.place('work/weir.yaml'),
    ...databaseEnvironment(database.location),
    WEIR_BOOTSTRAP_KEY: firstKey,
  }
  let serving: Serving | undefined
  const running = () => {
    if (!serving) throw new Error('The gateway is not started.')
    return serving
  }
  const kill = async () => serving?.[Symbol.asyncDispose]()
  return {
    books: billing,
    database: database.location,
    url: () => running().url,
    pid: () => running().pid,
    async start() {
      // What it logs is of no interest here, and would be thousands of lines.
      serving = await startServing(command, environment, 'ignore')
    },
    kill,
    stop: () => running().stop(),
    async [Symbol.asyncDispose]() {
      await kill()
      await billing[Symbol.asyncDispose]()
      await database.delete()
      home[Symbol.dispose]()
    },
  }
}

/** JSON is YAML. */
function settingsFor(provider: string, pricing: Pricing, settings: SettingsFile): string {
  const acme = { kind: 'openai-compatible', base_url: provider, api_key: 'sk-provider' }
  const routes = [{ provider: 'acme', model: 'river-1' }]
  return JSON.stringify({
    ...settings,
    providers: { acme },
    models: [{ slug: 'acme/river', pricing, max_output_tokens: 100, routes }],
    retries: { attempts: 1 },
    // The provider fails at random here, and must still receive requests.
    breaker: { failures: 1_000_000, cooldown: '1s' },
    limits: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 },
  })
}
