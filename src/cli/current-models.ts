import type { LoadedSettings } from '../config/load.ts'
import { createModelRegistry } from '../gateway/models/model-registry.ts'
import type { RegisteredModels } from '../gateway/models/models.ts'
import { type Log, silentLog } from '../lib/log.ts'
import { configureProviders, localEngines } from '../providers/config/configure-providers.ts'
import type { CliContext } from './context.ts'

/** Returns the models that `weir serve` would have with these settings; with `discover`, also those that providers list now. */
export async function currentModels(
  { settings }: Pick<LoadedSettings, 'settings'>,
  { environment }: Pick<CliContext, 'environment'>,
  { log = silentLog, discover = true }: { readonly log?: Log; readonly discover?: boolean } = {},
): Promise<RegisteredModels> {
  const providers = configureProviders(settings, environment)
  const engines = localEngines(settings, environment)
  const registry = createModelRegistry(settings, providers, log, engines)
  if (discover) {
    await registry.start()
    await registry.stop()
  }
  return registry.current()
}
