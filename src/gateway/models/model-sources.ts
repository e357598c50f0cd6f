import type { ModelDetails, Route } from '../../config/model-details.ts'
import { efforts } from '../../domain/generation/request.ts'
import type { ProviderSet } from '../../providers/config/configure-providers.ts'
import { hasResponsesApi } from '../../providers/kinds/responses.ts'
import type { ListedModel, Provider } from '../../providers/provider.ts'

/** The details of a model from all sources together. */
export type KnownModel = {
  readonly details: ModelDetails
  /** Known only from a provider's list. */
  readonly discovered?: boolean
  /** `enabled` of the settings. */
  readonly enabledSetting?: boolean
  /** The path of its entry in the settings; absent without one. */
  readonly path?: string
  /** Why the model has no routes, if that is not a mistake. */
  readonly unlistedReason?: string
  /** Why the model is not served while its provider is not configured, if that is not for lack of a key. */
  readonly unservedReason?: string
}

/** All models by slug: the catalog, then the lists of providers, then the changes of the settings. */
export function collectModels(input: ModelsInput): KnownModel[] {
  const known = new Map<string, KnownModel>()
  for (const details of input.catalog) known.set(details.slug, { details })
  for (const details of echoDetails(input.providers.configured))
    known.set(details.slug, { details, unservedReason: echoReplaced })
  for (const details of discoveredDetails(input))
    if (!known.has(details.slug)) known.set(details.slug, { details, discovered: true })
  const apiOf = catalogApis(input)
  for (const [index, entry] of input.settings.entries()) {
    const base = known.get(entry.slug) ?? known.get(`${entry.slug}:latest`)
    const routes = entry.routes?.map((route) => ({ ...apiOf(route), ...route }))
    const complete = routes ? { ...entry, routes } : entry
    known.set(entry.slug, withEntry(base, complete, `models[${index}]`, input.providers))
  }
  return [...known.values()]
}

/** Returns the API that the catalog uses for the same model of the same provider: others may reject tools. */
function catalogApis({ catalog, providers }: ModelsInput): (route: Route) => Pick<Route, 'api'> {
  const routes = catalog.flatMap((model) => model.routes ?? []).filter(({ api }) => api !== undefined)
  const apis = new Map(routes.map(({ provider, model, api }) => [`${provider} ${model}`, api]))
  return ({ provider, model }) => {
    const api = apis.get(`${provider} ${model}`)
    const kind = providers.configured.get(provider)?.kind
    return api && kind && hasResponsesApi(kind) ? { api } : {}
  }
}

function discoveredDetails({ discovered }: ModelsInput): ModelDetails[] {
  return [...discovered].flatMap(([provider, ids]) =>
    ids.map(({ id, contextWindow }) => ({
      slug: `${provider}/${id}`,
      ...(contextWindow !== undefined && { context_window: contextWindow }),
      ...(/embed/i.test(id) && { supported_apis: ['embeddings' as const] }),
      routes: [{ provider, model: id }],
    })),
  )
}

/** The entry of the settings over the details that were known, prices one by one. */
export function mergeDetails(base: ModelDetails | undefined, entry: ModelDetails): ModelDetails {
  const details = { ...base, ...entry }
  if (entry.pricing) {
    details.pricing = { ...base?.pricing, ...entry.pricing }
    // Prices of the settings do not end on a day of the catalog.
    if (entry.price_changes === undefined) delete details.price_changes
  }
  return details
}

function withEntry(
  base: KnownModel | undefined,
  entry: ModelDetails,
  path: string,
  providers: ConfiguredProviders,
): KnownModel {
  const details = mergeDetails(base?.details, entry)
  const unlistedReason = details.routes ? undefined : unlistedReasonOf(entry.slug, providers)
  return {
    details,
    enabledSetting: entry.enabled,
    path,
    unlistedReason,
    unservedReason: base?.unservedReason,
  }
}

/** A model without routes may be one that its provider has not listed yet. */
function unlistedReasonOf(slug: string, { configured }: ConfiguredProviders): string | undefined {
  const name = slug.slice(0, slug.indexOf('/'))
  return configured.get(name)?.discover ? `The provider ${name} does not list it at present.` : undefined
}

/** The input of the list of models. */
export type ModelsInput = {
  readonly catalog: readonly ModelDetails[]
  /** `models` of the settings. */
  readonly settings: readonly ModelDetails[]
  readonly providers: ConfiguredProviders
  /** The discovered models, by provider name. */
  readonly discovered: ReadonlyMap<string, readonly ListedModel[]>
  /** Milliseconds since 1970, by which prices change. */
  readonly now: number
  /** The Unix seconds at which a slug without a release date was first seen. */
  readonly firstSeen: (slug: string) => number
}

/** The configured providers, and what the others lack. */
export type ConfiguredProviders = Pick<ProviderSet, 'configured' | 'missing'>

/** Why the echo model is disabled while other providers are configured. */
const echoReplaced =
  'Other providers are configured. To enable it as well, add “echo: {}” to providers in weir.yaml.'

/**
 * The details of `weir/echo`, the model inside this process. It is listed even if no such provider is
 * configured, so that a caller learns why it is disabled.
 */
function echoDetails(configured: ReadonlyMap<string, Provider>): ModelDetails[] {
  const echo = [...configured.values()].find(({ kind }) => kind.name === 'echo')
  // The name may belong to another provider.
  if (!echo && configured.has('echo')) return []
  return [
    {
      slug: 'weir/echo',
      display_name: 'Echo',
      author: 'weir',
      context_window: 1_000_000,
      max_output_tokens: 1_000_000,
      pricing: { input: 0, output: 0 },
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      reasoning: { supported_efforts: [...efforts], default_effort: 'none', default_enabled: false },
      routes: [{ provider: echo?.name ?? 'echo', model: 'echo' }],
    },
  ]
}
