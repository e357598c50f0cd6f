import type { ModelRoute } from './models/model.ts'

/** Keeps callers from waiting on a route that fails again and again. */
export type Breaker = {
  /** False while the route is left alone; true once in each cooldown, to try it. */
  allows(route: ModelRoute): boolean
  succeeded(route: ModelRoute): void
  failed(route: ModelRoute): void
  /** The routes that are left alone now. */
  leftAlone(): readonly { readonly provider: string; readonly model: string }[]
}

export type BreakerSettings = { readonly failures: number; readonly cooldown: number }

/** Opens after `failures` in a row, for `cooldown` milliseconds. */
export function createBreaker(settings: BreakerSettings, now: () => number = performance.now): Breaker {
  const records = new Map<string, { failures: number; openUntil: number }>()
  const nameOf = (route: ModelRoute) => `${route.provider.name}\n${route.model}`

  return {
    allows(route) {
      const record = records.get(nameOf(route))
      if (!record || record.failures < settings.failures) return true
      if (now() < record.openUntil) return false
      // One caller tries; the others wait for how that ends.
      record.openUntil = now() + settings.cooldown
      return true
    },
    succeeded: (route) => void records.delete(nameOf(route)),
    failed(route) {
      const failures = (records.get(nameOf(route))?.failures ?? 0) + 1
      records.set(nameOf(route), { failures, openUntil: now() + settings.cooldown })
    },
    leftAlone() {
      const resting = [...records].filter(
        ([, { failures, openUntil }]) => failures >= settings.failures && now() < openUntil,
      )
      return resting.map(([name]) => {
        const [provider = '', model = ''] = name.split('\n')
        return { provider, model }
      })
    },
  }
}
