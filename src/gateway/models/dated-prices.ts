import type { ModelDetails, Pricing } from '../../config/model-details.ts'

type DatedPrices = Pick<ModelDetails, 'pricing' | 'price_changes'>

/** The prices of a model at this time, in milliseconds since 1970. */
export function pricingAt({ pricing, price_changes = [] }: DatedPrices, now: number): Pricing | undefined {
  const changes = price_changes.filter((change) => beginOf(change) <= now)
  const latest = changes.toSorted((one, other) => beginOf(one) - beginOf(other)).at(-1)
  return latest === undefined ? pricing : latest.pricing
}

/** When the next prices of one of the models begin, after this time; infinite if none are known. */
export function nextPriceChange(models: readonly DatedPrices[], now: number): number {
  const begins = models.flatMap(({ price_changes = [] }) => price_changes.map(beginOf))
  return Math.min(...begins.filter((begin) => begin > now))
}

/** Midnight of UTC. */
function beginOf({ effective_from }: { readonly effective_from: string }): number {
  return Date.parse(effective_from)
}

/** The clock may be corrected, and a timer for a day is late after a pause of the machine. */
const maxTimerMs = 60_000

/** Calls `update` when the prices change, which returns the time of the next change. */
export function createPriceWatch(now: () => number, update: () => number) {
  let timer: Timer | undefined

  function start(pricedUntil: number): void {
    const next = now() >= pricedUntil ? update() : pricedUntil
    timer = setTimeout(() => start(next), Math.min(maxTimerMs, next - now())).unref()
  }

  return { start, stop: () => clearTimeout(timer) }
}
