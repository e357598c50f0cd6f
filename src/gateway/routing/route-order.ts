import { type ModelRoute, routeKey } from '../models/model.ts'

/**
 * The routes in the order in which they are tried: as configured, or, if any has a weight, one drawn by
 * weight and the others after it in their order. Routes whose circuit is open are excluded from the draw,
 * unless all are; they come before the drawn one, where they are probed or skipped.
 */
export function drawRoutes(
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

/**
 * The routes as this session prefers them, by weighted rendezvous hashing: the same order on every server.
 * Over many sessions each route is preferred in proportion to its weight, with or without the others: the
 * sessions of a route that is lost spread over the rest by weight, and no other session moves.
 */
export function rankRoutes(routes: readonly ModelRoute[], session: bigint): readonly ModelRoute[] {
  return routes
    .map((route) => ({ route, score: scoreOf(route, session) }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ route }) => route)
}

/** Exponentially distributed with the weight as its mean; 0 without a weight. */
function scoreOf(route: ModelRoute, session: bigint): number {
  const hash = Bun.hash.wyhash(routeKey(route), session)
  // 52 bits: a fraction that is never rounded to 0 or 1.
  const fraction = (Number(hash >> 12n) + 0.5) / 2 ** 52
  return -weightOf(route) / Math.log(fraction)
}

/** Whether requests are shared among routes by weight, and not sent to the first that is healthy. */
export function sharesByWeight(routes: readonly ModelRoute[]): boolean {
  return (
    routes.length > 1 &&
    routes.some(({ weight }) => weight !== undefined) &&
    routes.filter((route) => weightOf(route) > 0).length > 1
  )
}

/** A route without a weight counts as 1 beside others that have one. */
function weightOf({ weight = 1 }: ModelRoute): number {
  return weight
}
