import type { AbortLike } from './abort.ts'

/** Returns milliseconds that never go back. It is shared: a closure for each stream would take memory. */
export function monotonicNow(): number {
  return performance.now()
}

/** Settles as the promise does, or rejects with `timeoutError()` after the timeout. The work itself goes on. */
export function withTimeout<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
  timeoutError: () => Error,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeoutError()), timeoutMs)
    const fulfilled = (value: Value) => {
      clearTimeout(timer)
      resolve(value)
    }
    const rejected = (error: unknown) => {
      clearTimeout(timer)
      reject(error)
    }
    promise.then(fulfilled, rejected)
  })
}

/** Waits for the promise, but at most `timeoutMs`: then it resolves, and the work goes on. */
export async function settleWithin(promise: Promise<unknown>, timeoutMs: number): Promise<void> {
  const { promise: timedOut, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, timeoutMs)
  try {
    await Promise.race([promise, timedOut])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after the delay; rejects with the signal's reason if it aborts first. */
export function wait(milliseconds: number, signal: AbortLike): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAborted = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAborted)
      resolve()
    }, milliseconds)
    signal.addEventListener('abort', onAborted, { once: true })
  })
}

/** Resolves in a later turn of the event loop, after other work that is due. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}

let lastOwnTurn: Promise<void> = Promise.resolve()

/**
 * Resolves in a later turn of the event loop that no other caller of this function gets, in the order of the calls: pieces
 * of long work in many places do not add up to a long one.
 */
export function ownTurn(): Promise<void> {
  return (lastOwnTurn = lastOwnTurn.then(nextTurn))
}

/** Wraps a function so that it runs at most once per interval; other calls do nothing. */
export function throttle(intervalMs: number, run: () => void): () => void {
  let lastRunAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - lastRunAt < intervalMs) return
    lastRunAt = now
    run()
  }
}

/**
 * Runs the task repeatedly until it is stopped; the interval starts when a run ends, so that runs do not overlap. The
 * timer does not keep the process alive.
 */
export function repeatEvery(
  intervalMs: number,
  task: () => Promise<unknown>,
  onError: (error: unknown) => void,
): { stop(): void } {
  let stopped = false
  let timer = setTimeout(run, intervalMs).unref()

  async function run(): Promise<void> {
    await task().catch(onError)
    if (!stopped) timer = setTimeout(run, intervalMs).unref()
  }

  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** Formats a duration in a fitting unit: `0.8 ms`, `45 ms`, `1.2 s`, `2 min 5 s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 9.95) return `${milliseconds.toFixed(1)} ms`
  if (milliseconds < 999.5) return `${milliseconds.toFixed(0)} ms`
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`
  const seconds = Math.round(milliseconds / 1000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** Adds up the durations of intervals that do not overlap. */
export class Stopwatch {
  readonly #now: () => number
  #sum = 0
  #startedAt: number | undefined

  /** `now` returns milliseconds. */
  constructor(now = monotonicNow) {
    this.#now = now
  }

  /** Starts an interval; does nothing if one is running. */
  start(): void {
    this.#startedAt ??= this.#now()
  }

  /** Ends the running interval, if there is one. */
  stop(): void {
    if (this.#startedAt !== undefined) this.#sum += this.#now() - this.#startedAt
    this.#startedAt = undefined
  }

  /** The milliseconds of the ended intervals. */
  endedMs(): number {
    return this.#sum
  }

  /** The milliseconds of all intervals, with the running one. */
  elapsedMs(): number {
    return this.#startedAt === undefined ? this.#sum : this.#sum + this.#now() - this.#startedAt
  }
}

/**
 * A timeout that restarts with each piece of a stream. Setting a timer for each piece would cost more than the piece:
 * one timer runs, and checks the deadline when it fires.
 */
export class Watchdog {
  readonly #onTimeout: () => void
  #timeoutMs: number
  #deadline: number
  #timer: Timer | undefined

  /** Starts the timeout; `onTimeout` is called when it expires. */
  constructor(timeoutMs: number, onTimeout: () => void) {
    this.#onTimeout = onTimeout
    this.#timeoutMs = timeoutMs
    this.#deadline = performance.now() + timeoutMs
    this.#timer = setTimeout(this.#check, timeoutMs)
  }

  /** Restarts the timeout, with a new length if `timeoutMs` is passed. */
  touch(timeoutMs = this.#timeoutMs): void {
    this.#deadline = performance.now() + timeoutMs
    // A running timer fires early enough, unless the timeout has become shorter.
    if (this.#timer !== undefined && timeoutMs >= this.#timeoutMs) return
    clearTimeout(this.#timer)
    this.#timeoutMs = timeoutMs
    this.#timer = setTimeout(this.#check, timeoutMs)
  }

  /** Cancels the timeout. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  readonly #check = (): void => {
    const remainingMs = this.#deadline - performance.now()
    this.#timer = remainingMs > 1 ? setTimeout(this.#check, remainingMs) : undefined
    if (this.#timer === undefined) this.#onTimeout()
  }
}

/** Returns a time in milliseconds since 1970 as ISO 8601; null for none. */
export function isoTimeOrNull(time: number | null | undefined): string | null {
  return time == null ? null : new Date(time).toISOString()
}
