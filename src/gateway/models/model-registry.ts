import { catalog } from '../../config/catalog.ts'
import type { ModelFacts } from '../../config/model-facts.ts'
import type { Log } from '../../lib/log.ts'
import type { ProviderSet } from '../../providers/config/configure-providers.ts'
import type { Provider } from '../../providers/provider.ts'
import { createDiscovery } from './discovery.ts'
import type { ConfiguredProviders } from './model-sources.ts'
import { createModels, type RegisteredModels } from './models.ts'

/** The models as they are now: those of the catalog and the settings, and those that providers list. */
export type ModelRegistry = {
  current(): RegisteredModels
  /** The names of the engines that were found without being configured. */
  engines(): readonly string[]
  /** Asks the providers that want it; resolves when each has answered once or failed to. */
  start(): Promise<void>
  stop(): Promise<void>
}

/**
 * A discovery that finds something new makes a new list; whoever holds the old one keeps it. Of the `engines`, those
 * count that have answered.
 */
export function createModelRegistry(
  settings: readonly ModelFacts[],
  providers: ProviderSet,
  log: Log,
  engines: readonly Provider[] = [],
): ModelRegistry {
  const firstSeen = createFirstSeen()
  const discovery = createDiscovery({
    providers: providers.configured.values(),
    localEngines: engines,
    log,
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

/** Remembers for each slug the Unix second in which it was first asked for. */
export function createFirstSeen(now: () => number = Date.now): (slug: string) => number {
  const seen = new Map<string, number>()
  return (slug) => {
    const second = seen.get(slug) ?? Math.floor(now() / 1000)
    seen.set(slug, second)
    return second
  }
}
