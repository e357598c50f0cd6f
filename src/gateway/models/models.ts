import type { SettingsProblem } from '../../config/problem.ts'
import { maxTimeoutMs, parseDuration } from '../../config/units.ts'
import { ignoredParameterNames, parameters } from '../../domain/generation/parameters.ts'
import { hasResponsesApi } from '../../providers/kinds/responses.ts'
import { nextPriceChange } from './dated-prices.ts'
import {
  type ConfiguredProviders,
  collectModels,
  type KnownModel,
  type ModelsInput,
} from './model-sources.ts'
import type { Model } from './model.ts'
import { resolveModel } from './resolve-model.ts'

/** All models at one moment. A change of the settings or a discovery creates a new list. */
export type Models = {
  /** By slug, alias or unambiguous bare name; includes disabled models. */
  find(name: string): Model | undefined
  /** The models of an ambiguous bare name; empty for any other name. */
  sharing(name: string): readonly Model[]
  /** The enabled models, by slug. */
  readonly enabled: readonly Model[]
  readonly all: readonly Model[]
  /** Whether the caller may use a model; undefined if it may use all. Only the lists of models leave out the others. */
  readonly allows?: (model: Model) => boolean
}

/** The models, and the problems of the settings that describe them. */
export type RegisteredModels = Models & {
  readonly problems: readonly SettingsProblem[]
  /** When the prices of a model change next, in milliseconds since 1970; infinite if no change is known. */
  readonly pricedUntil: number
}

/** All models of the catalog, the settings and the providers, enabled or disabled. */
export function createModels(input: ModelsInput): RegisteredModels {
  const known = collectModels(input)
  const models = known.map((model) => resolveModel(model, input))
  const all = withServedVariants(models).toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
  const { names, ambiguous } = indexModels(all)
  return {
    find: (name) => names.get(name),
    sharing: (name) => ambiguous.get(name) ?? [],
    enabled: all.filter(({ disabled }) => disabled === undefined),
    all,
    pricedUntil: nextPriceChange(
      known.map(({ details }) => details),
      input.now,
    ),
    problems: modelProblems(known, names, input.providers),
  }
}

/** Removes a fast mode whose variant is not enabled. */
function withServedVariants(models: readonly Model[]): Model[] {
  const enabled = new Set(models.filter(({ disabled }) => disabled === undefined).map(({ slug }) => slug))
  return models.map((model) => {
    const { fast, ...slow } = model
    return fast?.strategy === 'model_variant' && !enabled.has(fast.target_slug) ? slow : model
  })
}

/** The names that resolve to a model, and the ambiguous ones. */
type ModelIndex = {
  readonly names: Map<string, Model>
  /** The models of a bare name that several models share. */
  readonly ambiguous: Map<string, readonly Model[]>
}

/**
 * Slugs come before aliases, aliases before bare names (`gpt-6-luna`, or the last segment of a longer slug)
 * that only one model has. Among the models that share a bare name, an enabled one takes precedence over a
 * disabled one, and an enabled one of the catalog or the settings over those that a provider listed. Last come the names
 * of enabled models without `:latest`.
 */
function indexModels(models: readonly Model[]): ModelIndex {
  const names = new Map(models.map((model) => [model.slug, model]))
  for (const model of models)
    for (const alias of model.aliases) if (!names.has(alias)) names.set(alias, model)
  const enabled = models.filter(({ disabled }) => disabled === undefined)
  const index: ModelIndex = { names, ambiguous: new Map() }
  for (const candidates of [enabled.filter(({ discovered }) => !discovered), enabled])
    for (const bareName of [withoutAuthor, lastSegment]) addBareNames(index, candidates, bareName)
  const latest = enabled.filter(({ slug }) => slug.endsWith(latestTag))
  for (const name of [slugOf, withoutAuthor, lastSegment])
    addBareNames(index, latest, (model) => name(model).slice(0, -latestTag.length))
  for (const bareName of [withoutAuthor, lastSegment]) addBareNames(index, models, bareName)
  return index
}

/** The tag of a model of Ollama that its users, and Ollama itself, leave out. */
const latestTag = ':latest'

function slugOf({ slug }: Pick<Model, 'slug'>): string {
  return slug
}

/** The slug without its author: `gpt-6-luna`. */
export function withoutAuthor({ slug }: Pick<Model, 'slug'>): string {
  return slug.slice(slug.indexOf('/') + 1)
}

/** The part of the slug after its last slash. */
export function lastSegment({ slug }: Pick<Model, 'slug'>): string {
  return slug.slice(slug.lastIndexOf('/') + 1)
}

function addBareNames(
  { names, ambiguous }: ModelIndex,
  models: readonly Model[],
  bareName: (model: Model) => string,
): void {
  for (const [name, sharing] of Map.groupBy(models, bareName)) {
    const [only, another] = sharing
    if (names.has(name) || ambiguous.has(name) || only === undefined) continue
    if (another === undefined) names.set(name, only)
    else ambiguous.set(name, sharing)
  }
}

/** A model of the settings, with the path that a problem names. */
type DescribedModel = KnownModel & { readonly path: string }

/** The problems of the models in the settings that only the catalog and the providers reveal. */
function modelProblems(
  known: readonly KnownModel[],
  names: ReadonlyMap<string, Model>,
  providers: ConfiguredProviders,
): SettingsProblem[] {
  const slugs = new Set(known.map(({ details }) => details.slug))
  return known.flatMap((model) => {
    const { path } = model
    if (path === undefined) return []
    const described = { ...model, path }
    return [
      ...routeProblems(described, providers),
      ...parameterProblems(described),
      ...timeoutProblems(described),
      ...aliasProblems(described, names),
      ...variantProblems(described, slugs),
    ]
  })
}

function routeProblems(
  { details, path, unlistedReason }: DescribedModel,
  { configured, missing }: ConfiguredProviders,
): SettingsProblem[] {
  if (!details.routes && unlistedReason === undefined)
    return [{ path, message: `must have routes, because ${details.slug} is not in the catalog.` }]
  return (details.routes ?? []).flatMap(({ provider, api }, index) => {
    const kind = configured.get(provider)?.kind
    const routePath = `${path}.routes[${index}]`
    if (api && kind !== undefined && !hasResponsesApi(kind))
      return [{ path: `${routePath}.api`, message: `is not supported by providers of kind ${kind.name}.` }]
    if (kind !== undefined || missing.has(provider)) return []
    return [{ path: `${routePath}.provider`, message: `“${provider}” is not a configured provider.` }]
  })
}

function parameterProblems({ details, path }: DescribedModel): SettingsProblem[] {
  const known: ReadonlySet<string> = new Set([...parameters, ...ignoredParameterNames])
  return (details.supported_parameters ?? []).flatMap((parameter, index) => {
    if (known.has(parameter)) return []
    const message = `“${parameter}” is not a known parameter. Known parameters: ${parameters.join(', ')}.`
    return [{ path: `${path}.supported_parameters[${index}]`, message }]
  })
}

function timeoutProblems({ details, path }: DescribedModel): SettingsProblem[] {
  const isTooLong = (parseDuration(details.timeouts?.first_token ?? '') ?? 0) > maxTimeoutMs
  return isTooLong ? [{ path: `${path}.timeouts.first_token`, message: 'must be at most 24h.' }] : []
}

function aliasProblems(
  { details, path }: DescribedModel,
  names: ReadonlyMap<string, Model>,
): SettingsProblem[] {
  return (details.aliases ?? []).flatMap((alias, index) => {
    const owner = names.get(alias)?.slug
    if (owner === undefined || owner === details.slug) return []
    return [{ path: `${path}.aliases[${index}]`, message: `“${alias}” is already a name of ${owner}.` }]
  })
}

function variantProblems({ details, path }: DescribedModel, slugs: ReadonlySet<string>): SettingsProblem[] {
  const target = details.fast?.strategy === 'model_variant' ? details.fast.target_slug : undefined
  return [
    ...unknownModel(slugs, target, `${path}.fast.target_slug`),
    ...unknownModel(slugs, details.variant_of, `${path}.variant_of`),
  ]
}

function unknownModel(slugs: ReadonlySet<string>, slug: string | undefined, path: string): SettingsProblem[] {
  return slug === undefined || slugs.has(slug) ? [] : [{ path, message: `“${slug}” is not a known model.` }]
}
