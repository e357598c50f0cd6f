import { SettingsError } from '../config/problem.ts'
import type { Settings } from '../config/settings.ts'
import type { Log } from '../lib/log.ts'
import { baseUrlWarnings } from '../providers/config/base-url.ts'
import {
  configureProviders,
  localEngines,
  type ProviderSet,
} from '../providers/config/configure-providers.ts'
import { createModelRegistry, type ModelRegistry } from './models/model-registry.ts'

/** Valid settings, with the providers and models that they configure. */
export type Configuration = {
  readonly settings: Settings
  readonly providers: ProviderSet
  readonly models: ModelRegistry
}

export type ConfigurationInput = {
  readonly settings: Settings
  /** The file that the settings came from, for messages about them. */
  readonly file: string | null
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Validates the settings as a whole; throws `SettingsError`. */
export function configure({ settings, file, environment }: ConfigurationInput, log: Log): Configuration {
  const providers = configureProviders(settings, environment)
  const models = createModelRegistry(settings.models, providers, log, localEngines(settings, environment))
  const problems = [...providers.problems, ...models.current().problems]
  if (problems.length > 0) throw new SettingsError(problems, file)
  for (const { path, message } of baseUrlWarnings(providers.configured.values()))
    log.warn(`The setting ${path} ${message}`)
  return { settings, providers, models }
}
