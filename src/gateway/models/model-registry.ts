import { catalogModels } from '../../config/catalog.ts'
import type { Settings } from '../../config/settings.ts'
import type { Log } from '../../lib/log.ts'
import type { ProviderSet } from '../../providers/config/configure-providers.ts'
import type { Provider } from '../../providers/provider.ts'
import { createPriceWatch } from './dated-prices.ts'
import { createDiscovery } from './discovery.ts'
import type { ConfiguredProviders } from './model-sources.ts'
import { createModels, type RegisteredModels } from './models.ts'

/** The current models: those of the catalog, of the settings and of the providers' lists. */
export type ModelRegistry = ReturnType<typeof createModelRegistry>

/**
 * Creates the registry. A discovery that finds something new creates a new list; holders of the old one keep
 * it. Only `engines` that have responded count.
 */
export function createModelRegistry(
  settings: Pick<Settings, 'models' | 'catalog'>,
  providers: ProviderSet,
  log: Log,
  engines: readonly Provider[] = [],
  now: () => number = Date.now,
) {
  const known = sourcesOf(settings)
  const update = () => (models = createList())
  const discovery = createDiscovery({
    providers: providers.configured.values(),
    localEngines: engines,
    log,
    onChange: update,
  })
  const watch = createPriceWatch(now, () => update().pricedUntil)
  const foundEngines = () => engines.filter(({ name }) => discovery.discovered().has(name))
  const createList = () =>
    createModels({
      ...known,
      providers: withEngines(providers, foundEngines()),
      discovered: discovery.discovered(),
      now: now(),
    })
  let models = createList()
  return {
    current: (): RegisteredModels => models,
    /** The names of the local engines that were found without being configured. */
    engines: () => foundEngines().map(({ name }) => name),
    /** The last check of each provider: those of the discovery, and tests. */
    checks: discovery.checks,
    /** Lists the models of a provider now; the result is in `checks`. */
    test: discovery.test,
    /** Starts the discovery; resolves when each provider has responded or failed once. */
    start() {
      watch.start(models.pricedUntil)
      return discovery.start()
    },
    stop() {
      watch.stop()
      return discovery.stop()
    },
  }
}

function sourcesOf({ models, catalog }: Pick<Settings, 'models' | 'catalog'>) {
  return { catalog: catalogModels(catalog), settings: models, firstSeen: createFirstSeen() }
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
function createFirstSeen(): (slug: string) => number {
  const seen = new Map<string, number>()
  return (slug) => {
    const second = seen.get(slug) ?? Math.floor(Date.now() / 1000)
    seen.set(slug, second)
    return second
  }
}
