import type { ModelDetails, Route } from '../../config/model-details.ts'
import { parseDuration } from '../../config/units.ts'
import {
  conversationApis,
  type ModelApi,
  parameters,
  toParameters,
} from '../../domain/generation/parameters.ts'
import { withResponsesApi } from '../../providers/kinds/responses.ts'
import type { Kind, Provider } from '../../providers/provider.ts'
import { pricingAt } from './dated-prices.ts'
import type { ConfiguredProviders, KnownModel, ModelsInput } from './model-sources.ts'
import { type Model, type ModelRoute, offeredOperation } from './model.ts'

/** Resolves the model as callers see it: its served routes, and whether it is enabled. */
export function resolveModel(
  known: KnownModel,
  { providers, firstSeen, now }: Pick<ModelsInput, 'providers' | 'firstSeen' | 'now'>,
): Model {
  const { details } = known
  const author = details.author ?? details.slug.slice(0, details.slug.indexOf('/'))
  const routes = servedRoutes(details.routes ?? [], providers)
  const apis = supportedApisOf(details, routes)
  return {
    slug: details.slug,
    displayName: details.display_name ?? details.slug.slice(details.slug.indexOf('/') + 1),
    author,
    ownedBy: author,
    created: details.released ? Date.parse(details.released) / 1000 : firstSeen(details.slug),
    released: details.released,
    contextWindow: largestWindow(details, routes),
    maxOutputTokens: details.max_output_tokens,
    pricing: pricingAt(details, now),
    shutdownDate: details.shutdown_date,
    inputModalities: details.input_modalities ?? ['text'],
    outputModalities: details.output_modalities ?? ['text'],
    supportedParameters: toParameters(details.supported_parameters ?? protocolParameters(apis, routes)),
    supportedApis: apis,
    reasoning: details.reasoning,
    fast: details.fast,
    variantOf: details.variant_of,
    aliases: details.aliases ?? [],
    discovered: known.discovered,
    routes,
    affinity: details.affinity,
    firstTokenTimeoutMs: parseDuration(details.timeouts?.first_token ?? ''),
    ...availabilityOf(known, routes, providers),
  }
}

function servedRoutes(routes: readonly Route[], { configured }: ConfiguredProviders): ModelRoute[] {
  return routes.flatMap(({ provider: name, api, context_window: contextWindow, ...route }) => {
    const provider = configured.get(name)
    return provider ? [{ ...route, provider: api ? viaResponsesApi(provider) : provider, contextWindow }] : []
  })
}

/** Undefined where the window of any route is unknown. */
function largestWindow(
  { context_window: own }: KnownModel['details'],
  routes: readonly ModelRoute[],
): number | undefined {
  const windows = routes.map(({ contextWindow }) => contextWindow ?? own)
  const known = windows.filter((window) => window !== undefined)
  return known.length < windows.length || known.length === 0 ? own : Math.max(...known, own ?? 0)
}

/** The same provider through its Responses API. */
function viaResponsesApi(provider: Provider): Provider {
  const { kind } = provider
  return 'protocol' in kind ? { ...provider, kind: withResponsesApi(kind) } : provider
}

/** Enabled, disabled with a reason, or enabled without a key. */
function availabilityOf(
  { details, enabledSetting, unlistedReason, unservedReason }: KnownModel,
  routes: readonly ModelRoute[],
  { missing }: ConfiguredProviders,
): Pick<Model, 'disabled' | 'keyMissing'> {
  if (details.enabled === false)
    return { disabled: enabledSetting === false ? disabledInSettings : notChatReason(details.slug) }
  if (routes.length > 0) return {}
  const configuredRoutes = details.routes ?? []
  const keyMissing = configuredRoutes
    .map(({ provider }) => missing.get(provider))
    .find((sentence) => sentence)
  if (keyMissing === undefined) return { disabled: unlistedReason ?? missingProviderReason(configuredRoutes) }
  return enabledSetting && unservedReason === undefined
    ? { keyMissing }
    : { disabled: unservedReason ?? keyMissing }
}

const disabledInSettings = 'It has “enabled: false” in weir.yaml.'

function notChatReason(slug: string): string {
  return `It is not a chat model. To use it anyway, add “{ slug: ${slug}, enabled: true }” to models in weir.yaml.`
}

function missingProviderReason([first]: readonly Route[]): string {
  if (!first) return 'It has no routes. Add routes to it in weir.yaml.'
  return `The provider ${first.provider} is not configured. Add it to providers in weir.yaml.`
}

/** The APIs of the model: those of the settings or the catalog, else conversations, and completions at an engine. */
function supportedApisOf(
  { supported_apis: configured }: ModelDetails,
  routes: readonly ModelRoute[],
): readonly ModelApi[] {
  if (configured !== undefined) return [...new Set(configured)]
  return routes.some(({ provider }) => isCompletionEngine(provider.kind))
    ? [...conversationApis, 'completions']
    : conversationApis
}

/** An engine that the operator runs serves completions of any model; other providers serve those of a few. */
function isCompletionEngine(kind: Kind): boolean {
  return 'protocol' in kind && kind.keyless === true && kind.operations?.completion !== undefined
}

/** The parameters that the protocol of a provider supports in the APIs of the model. */
function protocolParameters(apis: readonly ModelApi[], routes: readonly ModelRoute[]): Iterable<string> {
  const kind = routes[0]?.provider.kind
  // A request for a model without routes gets the reason for that, and not a parameter's error.
  if (kind === undefined) return apis.every((api) => api === 'embeddings') ? [] : parameters
  if (!('protocol' in kind)) return kind.parameters
  if (isConversational(apis)) return kind.protocol.parameters
  const operation = apis.includes('completions') ? 'completion' : 'embedding'
  const [offered] = routes.flatMap((route) => offeredOperation(route, operation) ?? [])
  return offered?.protocol.parameters ?? []
}

function isConversational(apis: readonly ModelApi[]): boolean {
  return conversationApis.some((api) => apis.includes(api))
}
