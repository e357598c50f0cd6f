/** Does the work when it is called, but not again before so many milliseconds have passed. */
export function throttle(milliseconds: number, work: () => void): () => void {
  let doneAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - doneAt < milliseconds) return
    doneAt = now
    work()
  }
}
