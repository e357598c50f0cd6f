/** Milliseconds that never go back. One function for all: each stream that had its own would hold it in memory. */
export function monotonicNow(): number {
  return performance.now()
}
