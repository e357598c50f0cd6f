import type { ModelRoute } from '../models/model.ts'

/**
 * The routes in the order in which they are tried: as configured, or, if any has a weight, one drawn by
 * weight and the others after it in their order. Routes whose circuit is open are excluded from the draw,
 * unless all are; they come before the drawn one, where they are probed or skipped.
 */
export function routeOrder(
  routes: readonly ModelRoute[],
  isOpen: (route: ModelRoute) => boolean,
  random: () => number = Math.random,
): readonly ModelRoute[] {
  if (routes.length < 2 || routes.every((route) => route.weight === undefined)) return routes
  const usable = routes.filter((route) => !isOpen(route))
  const first = drawByWeight(usable.length > 0 ? usable : routes, random)
  const probed = usable.length > 0 ? routes.filter((route) => weightOf(route) > 0 && isOpen(route)) : []
  const others = routes.filter((route) => route !== first && !probed.includes(route))
  return [...probed, first, ...others].filter((route) => route !== undefined)
}

function drawByWeight(routes: readonly ModelRoute[], random: () => number): ModelRoute | undefined {
  let remaining = random() * routes.reduce((sum, route) => sum + weightOf(route), 0)
  return routes.find((route) => (remaining -= weightOf(route)) < 0) ?? routes[0]
}

/** A route without a weight counts as 1 beside others that have one. */
function weightOf({ weight = 1 }: ModelRoute): number {
  return weight
}
