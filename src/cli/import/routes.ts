import type { Route } from '../../config/model-details.ts'
import type { Deployment } from './deployment.ts'
import { problemPath } from '../../config/problem.ts'
import { type Fields, isObject, listOf } from '../../lib/json/json.ts'
import { escapeText, type Notes, quoted } from './source.ts'
import { remoteKind } from '../../providers/kinds/kinds.ts'
import { noListing } from '../../providers/model-listing.ts'

/**
 * The routes of the deployments of one model. LiteLLM draws one by `weight`, or else by `rpm` or `tpm`, among those of the
 * lowest `order`; the others come after it, which Weir says with a weight of 0.
 */
export function routesOf(deployments: readonly Deployment[]): Route[] {
  const orders = deployments.flatMap(({ order }) => order ?? [])
  const lowest = orders.length > 0 ? Math.min(...orders) : undefined
  const drawn = deployments.filter(({ order }) => order === lowest)
  const later = deployments
    .filter(({ order }) => order !== lowest)
    .toSorted((a, b) => orderOf(a) - orderOf(b))
  const weights = weightsOf(drawn)
  return mergeRoutes([
    ...drawn.map((deployment, index) => routeTo(deployment, weights[index] ?? 0)),
    ...later.map((deployment) => routeTo(deployment, 0)),
  ])
}

/** The routes with those of fallbacks behind them, which are tried in order. */
export function withFallbacks(routes: readonly Route[], fallbacks: readonly Route[]): Route[] {
  return mergeRoutes([...routes, ...fallbacks.map((route) => ({ ...route, weight: 0 }))])
}

/** Removes weights that say no more than the order of the routes. */
export function withoutNeedlessWeights(routes: readonly Route[]): Route[] {
  const [first, ...others] = routes
  if ((first?.weight ?? 0) === 0 && others.length > 0) return [...routes]
  if (others.some(({ weight }) => weight !== 0)) return [...routes]
  return routes.map(({ provider, model, api }) => ({ provider, model, ...(api && { api }) }))
}

function orderOf({ order }: Deployment): number {
  return order ?? Number.MAX_VALUE
}

/** LiteLLM looks at the first deployment to choose between `weight`, `rpm` and `tpm`. */
function weightsOf(deployments: readonly Deployment[]): readonly number[] {
  const metrics = deployments[0]?.weights.keys() ?? []
  for (const metric of metrics) {
    const weights = deployments.map((deployment) => deployment.weights[metric] ?? 0)
    const isSet = deployments[0]?.weights[metric] !== undefined
    if (isSet && weights.some((weight) => weight > 0)) return weights
  }
  return deployments.map(() => 1)
}

function routeTo({ provider, model, api }: Deployment, weight: number): Route {
  return { provider: provider.name, model, ...(api && { api }), weight }
}

/** One route for each provider and model, with the sum of the weights. */
function mergeRoutes(routes: readonly Route[]): Route[] {
  const merged = new Map<string, Route>()
  for (const route of routes) {
    const key = JSON.stringify([route.provider, route.model, route.api])
    const known = merged.get(key)
    const weight = (known?.weight ?? 0) + (route.weight ?? 0)
    merged.set(key, { ...(known ?? route), weight })
  }
  return [...merged.values()]
}

/** The names that a model falls back to, in order. */
export type Fallbacks = {
  readonly byName: ReadonlyMap<string, { readonly targets: readonly FallbackTarget[]; readonly path: string }>
  /** Of the models that have none of their own. */
  readonly defaults: readonly FallbackTarget[]
}

type FallbackTarget = { readonly name: string; readonly path: string }

/** Reads `fallbacks` and `default_fallbacks`; those of `router_settings` replace those of `litellm_settings`. */
export function readFallbacks(litellmSettings: Fields, routerSettings: Fields, notes: Notes): Fallbacks {
  const inRouter = routerSettings.fallbacks !== undefined && routerSettings.fallbacks !== null
  const [source, path] = inRouter
    ? ([routerSettings.fallbacks, 'router_settings.fallbacks'] as const)
    : ([litellmSettings.fallbacks, 'litellm_settings.fallbacks'] as const)
  const byName = new Map<string, { targets: readonly FallbackTarget[]; path: string }>()
  for (const [index, entry] of listOf(isObject(source) ? [source] : source).entries()) {
    const entryPath = isObject(source) ? path : problemPath(path, index)
    if (!isObject(entry)) notes.add(entryPath, 'It does not name a model and its fallbacks.')
    else
      for (const [name, targets] of Object.entries(entry))
        byName.set(name, readFallback(targets, problemPath(entryPath, name), notes))
  }
  const inDefaults = routerSettings.default_fallbacks === undefined ? 'litellm_settings' : 'router_settings'
  const defaults = (inDefaults === 'litellm_settings' ? litellmSettings : routerSettings).default_fallbacks
  return {
    byName,
    defaults: [
      ...readTargets(defaults, `${inDefaults}.default_fallbacks`, notes),
      ...(byName.get('*')?.targets ?? []),
    ],
  }
}

function readFallback(targets: unknown, path: string, notes: Notes) {
  return { targets: readTargets(targets, path, notes), path }
}

function readTargets(targets: unknown, path: string, notes: Notes): FallbackTarget[] {
  if (targets === undefined || targets === null) return []
  const list = Array.isArray(targets) ? targets.slice(0, maxTargets) : [targets]
  return list.flatMap((target, index) => {
    const targetPath = problemPath(path, index)
    if (typeof target === 'string' && target !== '') return [{ name: target, path: targetPath }]
    notes.add(targetPath, 'A fallback is the name of a model in Weir: it cannot change the request.')
    return []
  })
}

/** More fallbacks than a request could be tried with. */
const maxTargets = 20

/** Returns the routes of the fallbacks of a model; `resolve` returns those of a name, if there are any. */
export function fallbackRoutes(
  name: string,
  { byName, defaults }: Fallbacks,
  resolve: (name: string) => readonly Route[] | undefined,
  notes: Notes,
): Route[] {
  const targets = byName.get(name)?.targets ?? defaults
  const found = targets.flatMap((target) => {
    if (target.name === name) return []
    const routes = resolve(target.name)
    if (routes === undefined) notes.add(target.path, 'This fallback names no imported model.')
    return routes?.slice(0, maxRoutes) ?? []
  })
  if (found.length > maxRoutes)
    notes.add(targets[0]?.path ?? '', `Only the first ${maxRoutes} routes were imported.`)
  return found.slice(0, maxRoutes)
}

/** More routes than a request could be tried with. */
const maxRoutes = 100

/** Notes the fallbacks of names that no imported model has. */
export function noteUnusedFallbacks(
  { byName }: Fallbacks,
  isModel: (name: string) => boolean,
  notes: Notes,
): void {
  for (const [name, { path }] of byName)
    if (name !== '*' && !isModel(name)) notes.add(path, 'There is no imported model of this name.')
}

/** True for an entry of `model_list` that stands for any number of models. */
export function isWildcard({ name, model }: Deployment): boolean {
  return name.includes('*') || model.includes('*')
}

/** Enables the list of models of each provider with a wildcard; notes what is different from LiteLLM. */
export function enableWildcards(wildcards: readonly Deployment[], notes: Notes): void {
  for (const { path, name, model, provider, streamTimeout } of wildcards) {
    const { kind } = provider.draft
    const record = remoteKind(kind)
    const isListed = record !== undefined && record.listing !== noListing
    if (isListed) provider.discover = true
    else
      notes.add(
        path,
        `${quoted(name)}: Weir has no list of the models of ${kind}; add each to models, with its route.`,
      )
    if (streamTimeout !== undefined)
      notes.add(
        `${path}.litellm_params.stream_timeout`,
        'Set timeouts.first_token of each model; it is no setting of a provider.',
      )
    if (name === '*' && kind === 'openai')
      notes.add(path, 'Weir also enables every other provider whose key variable is set in the environment.')
    if (isListed && model !== '*')
      notes.add(path, `${quoted(name)}: Weir enables all models of the provider, not some.`)
  }
}

/** Notes the names by which the models of a wildcard are called, where they differ; providers must have names. */
export function noteWildcardNames(wildcards: readonly Deployment[], notes: Notes): void {
  for (const { path, name, provider } of wildcards)
    if (provider.discover && name !== '*' && name !== `${provider.name}/*`)
      notes.add(path, `${quoted(name)}: the models of this provider are called ${provider.name}/… in Weir.`)
}

/** The route of a name by the longest wildcard that it matches. */
export function wildcardRoute(name: string, wildcards: readonly Deployment[]): Route | undefined {
  const specificFirst = wildcards.toSorted((a, b) => b.name.length - a.name.length)
  for (const { name: pattern, model, provider } of specificFirst) {
    const [before = '', after = ''] = pattern.split('*', 2)
    const matches =
      name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after)
    if (!matches || !pattern.includes('*')) continue
    const part = name.slice(before.length, name.length - after.length)
    const route = { provider: provider.name, model: model.replace('*', () => escapeText(part)) }
    if (route.model !== '') return route
  }
  return undefined
}
