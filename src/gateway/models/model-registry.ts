import { catalog } from '../../config/catalog.ts'
import type { ModelDetails } from '../../config/model-details.ts'
import type { Log } from '../../lib/log.ts'
import type { ProviderSet } from '../../providers/config/configure-providers.ts'
import type { Provider } from '../../providers/provider.ts'
import { createDiscovery } from './discovery.ts'
import type { ConfiguredProviders } from './model-sources.ts'
import { createModels, type RegisteredModels } from './models.ts'
import { ProviderChecks } from './provider-check.ts'

/** The current models: those of the catalog, of the settings and of the providers' lists. */
export type ModelRegistry = {
  current(): RegisteredModels
  /** The names of the local engines that were found without being configured. */
  engines(): readonly string[]
  /** The last check of each provider: those of the discovery, and tests. */
  readonly checks: Pick<ProviderChecks, 'of'>
  /** Lists the models of a provider now; the result is in `checks`. */
  test(provider: Provider): Promise<void>
  /** Starts the discovery; resolves when each provider has responded or failed once. */
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * Creates the registry. A discovery that finds something new creates a new list; holders of the old one keep
 * it. Only `engines` that have responded count.
 */
export function createModelRegistry(
  settings: readonly ModelDetails[],
  providers: ProviderSet,
  log: Log,
  engines: readonly Provider[] = [],
): ModelRegistry {
  const firstSeen = createFirstSeen()
  const checks = new ProviderChecks()
  const discovery = createDiscovery({
    providers: providers.configured.values(),
    localEngines: engines,
    log,
    checks,
    onChange: () => {
      models = createList()
    },
  })
  const foundEngines = () => engines.filter(({ name }) => discovery.discovered().has(name))
  const createList = () =>
    createModels({
      catalog: catalog.models,
      settings,
      providers: withEngines(providers, foundEngines()),
      discovered: discovery.discovered(),
      firstSeen,
    })
  let models = createList()
  return {
    current: () => models,
    engines: () => foundEngines().map(({ name }) => name),
    checks,
    test: discovery.test,
    start: discovery.start,
    stop: discovery.stop,
  }
}

function withEngines(
  { configured, missing }: ProviderSet,
  engines: readonly Provider[],
): ConfiguredProviders {
  return {
    configured: new Map([...configured, ...engines.map((engine) => [engine.name, engine] as const)]),
    missing,
  }
}

/** Returns for each slug the Unix second of its first lookup. */
function createFirstSeen(now: () => number = Date.now): (slug: string) => number {
  const seen = new Map<string, number>()
  return (slug) => {
    const second = seen.get(slug) ?? Math.floor(now() / 1000)
    seen.set(slug, second)
    return second
  }
}
