import { SettingsError } from '../config/problem.ts'
import type { Settings } from '../config/settings.ts'
import type { Log } from '../lib/log.ts'
import { baseAddressWarnings } from '../providers/config/base-address.ts'
import { configureProviders, type ProviderSet } from '../providers/config/configure-providers.ts'
import { localEngines } from '../providers/config/local-engines.ts'
import { createModelRegistry, type ModelRegistry } from './models/model-registry.ts'

/** Settings that were found good, with what they bring in. */
export type Configuration = {
  readonly settings: Settings
  readonly providers: ProviderSet
  readonly models: ModelRegistry
}

export type ConfigurationInput = {
  readonly settings: Settings
  /** Where the settings came from, for what is said of them. */
  readonly file: string | null
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Checks all of it before any of it counts: throws `SettingsError`. */
export function configure({ settings, file, environment }: ConfigurationInput, log: Log): Configuration {
  const providers = configureProviders(settings, environment)
  const models = createModelRegistry(settings.models, providers, log, localEngines(settings, environment))
  const problems = [...providers.problems, ...models.current().problems]
  if (problems.length > 0) throw new SettingsError(problems, file)
  for (const { path, message } of baseAddressWarnings(providers.configured.values()))
    log.warn(`The setting ${path} ${message}`)
  return { settings, providers, models }
}
