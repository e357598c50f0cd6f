import type { KeyDirectory } from '../storage/ports/accounts.ts'
import { ApiError } from '../lib/errors/errors.ts'
import { nextTurn, repeatEvery } from '../lib/time.ts'
import { requireValid } from './authentication.ts'

/** Milliseconds. With the age of a cached key, a stream ends at most three seconds after its key. */
const intervalMs = 2000

/** Keys that are looked up at once; a database may have a connection for each. */
const maxLookups = 16

/** Ends an open stream with this error. */
export type EndStream = (error: ApiError) => void

/** Ends the open streams of keys that expire or are revoked, and of organizations that are deleted. */
export class KeyWatch {
  readonly #keys: Pick<KeyDirectory, 'find'>
  readonly #now: () => number
  /** By the public id of their key. */
  readonly #streams = new Map<string, Set<EndStream>>()

  /** `now` is milliseconds since 1970. */
  constructor(keys: Pick<KeyDirectory, 'find'>, now: () => number = Date.now) {
    this.#keys = keys
    this.#now = now
  }

  /** Watches the key of a stream; returns a function that ends the watch. */
  watch(keyId: string, end: EndStream): () => void {
    const streams = this.#streams.get(keyId) ?? new Set()
    this.#streams.set(keyId, streams.add(end))
    return () => {
      streams.delete(end)
      if (streams.size === 0 && this.#streams.get(keyId) === streams) this.#streams.delete(keyId)
    }
  }

  /** Looks up each key that has open streams, once for all of them. */
  async check(): Promise<void> {
    const keyIds = [...this.#streams.keys()]
    for (let start = 0; start < keyIds.length; start += maxLookups) {
      await Promise.all(keyIds.slice(start, start + maxLookups).map((id) => this.#checkKey(id)))
      await nextTurn()
    }
  }

  /** Checks the keys until it is stopped. */
  start(onError: (error: unknown) => void): { stop(): void } {
    return repeatEvery(intervalMs, () => this.check(), onError)
  }

  async #checkKey(keyId: string): Promise<void> {
    try {
      requireValid(await this.#keys.find(keyId), keyId, this.#now())
    } catch (error) {
      // While the database is unavailable, streams go on.
      if (!(error instanceof ApiError) || error.status >= 500) return
      for (const end of this.#streams.get(keyId) ?? []) end(error)
    }
  }
}
