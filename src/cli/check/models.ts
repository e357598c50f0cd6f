import { catalogOrigin } from '../../config/catalog.ts'
import type { Settings } from '../../config/settings.ts'
import { apiPaths } from '../../domain/generation/parameters.ts'
import { isOffered, type Model } from '../../gateway/models/model.ts'
import type { Models } from '../../gateway/models/models.ts'
import { joinChoices } from '../../lib/validation/problem.ts'
import type { ProviderSet } from '../../providers/config/configure-providers.ts'
import { isListed } from '../../providers/model-listing.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ModelsReport } from './report.ts'

type ModelsInput = {
  readonly settings: Settings
  readonly configured: readonly Provider[]
  readonly models: Models
  /** Whether the models include those that were discovered. */
  readonly online: boolean
}

/** Counts the models, and finds what keeps any from being served. */
export function reportOnModels({ settings, configured, models, online }: ModelsInput): ModelsReport {
  const isDiscovered = (provider: Provider) => provider.discover && isListed(provider)
  const serving = servingProviders(models)
  const withoutModels = configured.filter(
    (provider) => 'protocol' in provider.kind && !isDiscovered(provider) && !serving.has(provider.name),
  )
  return {
    on: models.enabled.length,
    off: models.all.length - models.enabled.length,
    not_listed: online ? [] : configured.filter(isDiscovered).map(({ name }) => name),
    without_models: withoutModels.map(({ name }) => name),
    without_service: settings.models.flatMap(({ slug }) => unservedModel(slug, models)),
    ending: endingModels(models, Date.now()),
    catalog: catalogOrigin(settings.catalog),
  }
}

/** The configured providers without those that the settings only name to keep them unused, as with `discover: false`. */
export function usedProviders(settings: Settings, { configured }: ProviderSet, models: Models): Provider[] {
  const serving = servingProviders(models)
  return [...configured.values()].filter(
    ({ name }) => settings.providers[name]?.discover !== false || serving.has(name),
  )
}

function servingProviders({ enabled }: Models): ReadonlySet<string> {
  return new Set(enabled.flatMap(({ routes }) => routes.map(({ provider }) => provider.name)))
}

function unservedModel(slug: string, models: Models) {
  const model = models.find(slug)
  const reason = model && (model.disabled ?? model.keyMissing ?? unofferedReason(model))
  return reason === undefined ? [] : [{ slug, reason }]
}

/** Why every request to the model is rejected, if its providers offer none of its APIs. */
function unofferedReason(model: Model): string | undefined {
  const { supportedApis } = model
  if (supportedApis.some((api) => isOffered(model, api))) return undefined
  return `Its providers do not offer ${joinChoices(supportedApis.map((api) => apiPaths[api]))}.`
}

const noticeMs = 90 * 24 * 3_600_000

function endingModels({ enabled }: Models, now: number): ModelsReport['ending'] {
  return enabled
    .flatMap(({ slug, shutdownDate }) =>
      shutdownDate === undefined ? [] : [{ slug, shutdown_date: shutdownDate }],
    )
    .filter(({ shutdown_date }) => Date.parse(shutdown_date) < now + noticeMs)
    .toSorted((one, other) => (one.shutdown_date < other.shutdown_date ? -1 : 1))
}
