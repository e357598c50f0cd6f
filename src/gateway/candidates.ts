import type { ModelRoute } from './models/model.ts'

/**
 * The routes in the order in which they are to be tried: as written, or, where any has a weight, one drawn by
 * weight and the others behind it in their order.
 */
export function candidates(
  routes: readonly ModelRoute[],
  random: () => number = Math.random,
): readonly ModelRoute[] {
  if (routes.length < 2 || routes.every((route) => route.weight === undefined)) return routes
  const first = drawn(routes, random)
  return [first, ...routes.filter((route) => route !== first)].filter((route) => route !== undefined)
}

/** A route without a weight counts as 1 beside others that have one. */
function drawn(routes: readonly ModelRoute[], random: () => number): ModelRoute | undefined {
  const weightOf = (route: ModelRoute) => route.weight ?? 1
  let left = random() * routes.reduce((sum, route) => sum + weightOf(route), 0)
  return routes.find((route) => (left -= weightOf(route)) < 0) ?? routes[0]
}
