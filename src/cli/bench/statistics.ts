/** The 50th and the 99th percentile of some values. */
export type Percentiles = { readonly p50: number; readonly p99: number }

/** Computes the percentiles; NaN without values. */
export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).toSorted()
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** Returns the middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted()
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return ((lower ?? Number.NaN) + (upper ?? Number.NaN)) / 2
}

/** The latency of a single caller in milliseconds: directly, through the gateway, and the difference. */
export type AddedLatency = {
  readonly direct: Percentiles
  readonly through: Percentiles
  readonly added: Percentiles
}

/** Compares the latency through the gateway with the direct one. */
export function addedLatency(direct: Percentiles, through: Percentiles): AddedLatency {
  return { direct, through, added: { p50: through.p50 - direct.p50, p99: through.p99 - direct.p99 } }
}
