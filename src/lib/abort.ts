import { ApiError, clientGone } from './errors/errors.ts'

/** A signal that aborts work: an `AbortSignal` or an `AbortSource`. */
export type AbortLike = {
  readonly aborted: boolean
  /** The reason of the abort; undefined before it. */
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once: true }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/**
 * An `AbortController` and its signal in one, for use within the gateway. A native controller with a listener takes ten
 * times as long to create, and each call needs one.
 */
export class AbortSource implements AbortLike {
  /** Replaced at each change: most sources have only one listener. */
  #listeners: readonly (() => void)[] = noListeners
  #aborted = false
  #reason: unknown

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  /** Aborts with this reason; later calls do nothing. */
  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    // A listener may remove another one, which is then not called.
    for (const listener of this.#listeners) if (this.#listeners.includes(listener)) listener()
    this.#listeners = noListeners
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = [...this.#listeners, listener]
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners.indexOf(listener)
    if (index >= 0) this.#listeners = this.#listeners.toSpliced(index, 1)
  }
}

const noListeners: readonly (() => void)[] = []

/** Calls `listener` when the signal aborts, or now if it has; returns a function that removes the listener. */
export function onAbort(signal: AbortLike, listener: () => void): () => void {
  if (signal.aborted) listener()
  else signal.addEventListener('abort', listener, { once: true })
  return () => signal.removeEventListener('abort', listener)
}

/** Settles as the promise does, or rejects with the signal's reason once it aborts. The work itself goes on. */
export async function withAbort<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAborted = () => reject(signal.reason)
  if (signal.aborted) onAborted()
  else signal.addEventListener('abort', onAborted, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAborted)
  }
}

/** The error with which work was aborted: `client_gone`, unless the signal carries another `ApiError`. */
export function abortReason(signal: AbortLike): ApiError {
  return signal.reason instanceof ApiError ? signal.reason : clientGone()
}
