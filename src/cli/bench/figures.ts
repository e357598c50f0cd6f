/** What half and all but a hundredth of the values stay below. */
export type Percentiles = { readonly p50: number; readonly p99: number }

export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).toSorted()
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** The value in the middle; of an even number of values, the mean of the two there. */
export function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).toSorted()
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return ((lower ?? Number.NaN) + (upper ?? Number.NaN)) / 2
}

/** Milliseconds of a caller who is alone: directly, through the gateway, and the difference. */
export type Times = {
  readonly direct: Percentiles
  readonly through: Percentiles
  readonly added: Percentiles
}

export function timesOf(direct: Percentiles, through: Percentiles): Times {
  return { direct, through, added: { p50: through.p50 - direct.p50, p99: through.p99 - direct.p99 } }
}
