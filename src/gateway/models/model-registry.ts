import { catalog } from '../../config/catalog.ts'
import type { ModelFacts } from '../../config/model-facts.ts'
import type { Log } from '../../lib/log.ts'
import type { ProviderSet } from '../../providers/configure.ts'
import { createDiscovery } from './discovery.ts'
import { createFirstSeen } from './first-seen.ts'
import { createModels, type RegisteredModels } from './models.ts'

/** The models as they are now: those of the catalog and the settings, and those that providers list. */
export type ModelRegistry = {
  current(): RegisteredModels
  /** Asks the providers that want it; resolves when each has answered once or failed to. */
  start(): Promise<void>
  stop(): Promise<void>
}

/** A discovery that finds something new makes a new list; whoever holds the old one keeps it. */
export function createModelRegistry(
  settings: readonly ModelFacts[],
  providers: ProviderSet,
  log: Log,
): ModelRegistry {
  const firstSeen = createFirstSeen()
  const discovery = createDiscovery({
    providers: providers.configured.values(),
    log,
    onChange: () => {
      models = list()
    },
  })
  const list = () =>
    createModels({
      catalog: catalog.models,
      settings,
      providers,
      discovered: discovery.discovered(),
      firstSeen,
    })
  let models = list()
  return { current: () => models, start: discovery.start, stop: discovery.stop }
}
