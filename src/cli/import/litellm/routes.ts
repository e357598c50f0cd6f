import type { Route } from '../../../config/model-details.ts'
import type { Deployment } from './deployment.ts'

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
