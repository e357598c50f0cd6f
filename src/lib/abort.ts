/** What ends work that is under way: an `AbortSignal`, or a `Stop`. */
export type AbortLike = {
  readonly aborted: boolean
  /** Why, once it is. */
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * An `AbortController` and its signal in one, for work of our own: to make and hear a native one takes ten times as
 * long, and each call has one.
 */
export class AbortSource implements AbortLike {
  /** Made anew with each change: few hear of a stop, most of them one. */
  #listeners: readonly (() => void)[] = []
  #aborted = false
  #reason: unknown

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  /** Only the first word counts. */
  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    // One may make another let go, which then hears nothing.
    for (const listener of this.#listeners) if (this.#listeners.includes(listener)) listener()
    this.#listeners = []
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((other) => other !== listener)
  }
}

/** Calls back when the signal fires, at once where it has; what it returns lets go of the signal. */
export function onAbort(signal: AbortLike, fired: () => void): () => void {
  if (signal.aborted) fired()
  else signal.addEventListener('abort', fired, { once: true })
  return () => signal.removeEventListener('abort', fired)
}

/** The promise, or a rejection with the signal's reason once it fires: then only the waiting ends. */
export async function withAbort<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: left, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  try {
    return await Promise.race([promise, left])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
