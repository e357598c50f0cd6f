import type { AbortLike } from './abort.ts'

/** Milliseconds that never go back. One function for all: each stream that had its own would hold it in memory. */
export function monotonicNow(): number {
  return performance.now()
}

/** The promise, or a rejection with `late()` when it takes longer: then only the waiting ends. */
export function withTimeout<Value>(
  promise: Promise<Value>,
  milliseconds: number,
  late: () => Error,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), milliseconds)
    const settled = (value: Value) => {
      clearTimeout(timer)
      resolve(value)
    }
    const failed = (error: unknown) => {
      clearTimeout(timer)
      reject(error)
    }
    promise.then(settled, failed)
  })
}

/** Waits for the promise, but no longer than so many milliseconds: then it goes on alone. */
export async function settleWithin(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  try {
    await Promise.race([promise, over])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after the time, rejects with the signal's reason when it fires first. */
export function wait(milliseconds: number, signal: AbortLike): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const leave = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', leave, { once: true })
  })
}

/** Resolves in a later turn of the event loop, when what else is due has had its time. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

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

/**
 * Runs the task now and then until it is stopped; a run that takes longer than the interval is not doubled. Keeps no
 * process alive that has nothing else to do.
 */
export function repeatEvery(
  milliseconds: number,
  task: () => Promise<unknown>,
  failed: (error: unknown) => void,
): { stop(): void } {
  let stopped = false
  let timer = setTimeout(run, milliseconds).unref()

  async function run(): Promise<void> {
    await task().catch(failed)
    if (!stopped) timer = setTimeout(run, milliseconds).unref()
  }

  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
