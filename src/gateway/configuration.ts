import { catalogModels } from '../config/catalog.ts'
import { InvalidSettings, type LoadedSettings, loadSettings } from '../config/load.ts'
import type { SettingsInput } from '../config/paths.ts'
import { isSamePlace, SettingsError, type SettingsProblem } from '../config/problem.ts'
import { locateProblems } from '../config/read-settings-file.ts'
import type { Settings } from '../config/settings.ts'
import type { Log } from '../lib/log.ts'
import {
  configureProviders,
  localEngines,
  type ProviderSet,
} from '../providers/config/configure-providers.ts'
import { providerWarnings } from '../providers/config/provider-warnings.ts'
import { createModelRegistry, type ModelRegistry } from './models/model-registry.ts'
import { createModels } from './models/models.ts'
import type { AlertRules } from '../storage/ports/webhooks.ts'
import { alertRulesOf, webhookProblems } from './webhooks/endpoints.ts'

/** Valid settings, with the providers and models that they configure. */
export type Configuration = {
  readonly settings: Settings
  readonly providers: ProviderSet
  readonly models: ModelRegistry
  readonly alerts: AlertRules
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
  const models = createModelRegistry(settings, providers, log, localEngines(settings, environment))
  const problems = [...providers.problems, ...models.current().problems, ...webhookProblems(settings)]
  if (problems.length > 0) throw new SettingsError(locateProblems(problems, file), file)
  for (const { path, message } of providerWarnings(providers.configured.values()))
    log.warn(`The setting ${path} ${message}`)
  return { settings, providers, models, alerts: alertRulesOf(settings) }
}

/** Loads the settings; the error of invalid ones has the problems of their providers and models too. */
export function loadAllSettings(input: SettingsInput): LoadedSettings {
  try {
    return loadSettings(input)
  } catch (error) {
    if (!(error instanceof InvalidSettings)) throw error
    const { problems, file, validPart } = error
    const models = withoutDuplicates(validPart.models)
    const further = configurationProblems({ ...validPart, models }, input.environment).filter(
      ({ path }) => !problems.some((known) => isSamePlace(known.path, path)),
    )
    throw new SettingsError([...problems, ...locateProblems(further, file)], file)
  }
}

/** A model with the slug of an earlier one would hide the problems of that one. */
function withoutDuplicates(models: Settings['models']): Settings['models'] {
  const slugs = new Set<string>()
  return models.map((model, index) => {
    if (slugs.has(model.slug)) return { ...model, slug: `${model.slug}:${index}` }
    slugs.add(model.slug)
    return model
  })
}

/** The problems of the providers and the models that valid settings name. */
export function configurationProblems(
  settings: Settings,
  environment: ConfigurationInput['environment'],
): SettingsProblem[] {
  const providers = configureProviders(settings, environment)
  const { models } = settings
  const known = {
    catalog: catalogModels(settings.catalog),
    settings: models,
    providers,
    discovered: new Map(),
  }
  const { problems } = createModels({ ...known, firstSeen: () => 0, now: Date.now() })
  return [...providers.problems, ...problems, ...webhookProblems(settings)]
}
