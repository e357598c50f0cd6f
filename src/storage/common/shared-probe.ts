/** The time for which the result of a probe is reused, however often clients ask. */
export const probeTrustMs = 250

/** Shares one probe between all concurrent callers, and for a while after it if `isHealthy` stays the same. */
export function shareProbe(probe: () => Promise<void>, isHealthy: () => boolean): () => Promise<void> {
  let last: { readonly result: Promise<void>; settled?: { readonly at: number; readonly healthy: boolean } }

  function isCurrent(): boolean {
    if (last === undefined) return false
    const { settled } = last
    if (settled === undefined) return true
    return performance.now() - settled.at < probeTrustMs && isHealthy() === settled.healthy
  }

  return () => {
    if (!isCurrent()) {
      const started: typeof last = { result: probe() }
      const settle = () => void (started.settled = { at: performance.now(), healthy: isHealthy() })
      started.result.then(settle, settle)
      last = started
    }
    return last.result
  }
}
