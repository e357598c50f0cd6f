import { serviceUnavailable } from '../lib/errors/errors.ts'
import { RecentMap } from '../lib/recent-map.ts'
import type { KeyDirectory, KnownKey } from './ports/known-keys.ts'

/** A cached key is read again after this time. */
const refreshAfterMs = 400
/** A revocation by another process must take effect within a second. */
const maxAgeMs = 900
const maxEntries = 10_000
/** The most reads at once: clients may send any number of unknown keys. */
const maxReads = 500

/** Reads a key; at once, if the database is in this process. */
type FindKey<Key> = (publicId: string) => Key | undefined | Promise<Key | undefined>

type CachedKey<Key> = { readonly key: Key; readonly readAt: number }

/**
 * Caches the keys that exist; unknown ids are not cached, so that clients cannot fill the cache. While a cached key is read
 * again, requests still use it; those for the same key share one read. `now` is monotonic.
 */
export class CachedKeys<Key = KnownKey> implements KeyDirectory<Key> {
  readonly #findKey: FindKey<Key>
  readonly #now: () => number
  readonly #entries = new RecentMap<string, CachedKey<Key>>(maxEntries)
  readonly #reads = new Map<string, Promise<Key | undefined>>()
  #count = 0
  #refreshes = 0

  constructor(findKey: FindKey<Key>, now = () => performance.now()) {
    this.#findKey = findKey
    this.#now = now
  }

  find(publicId: string): Key | undefined | Promise<Key | undefined> {
    const cached = this.#entries.get(publicId)
    const age = cached === undefined ? Infinity : this.#now() - cached.readAt
    if (cached !== undefined && age <= refreshAfterMs) return cached.key
    const found = this.#reads.get(publicId) ?? this.#read(publicId)
    if (cached === undefined || age > maxAgeMs || !(found instanceof Promise)) return found
    // A failure is reported to the request that finds the cached key too old.
    found.catch(() => {})
    return cached.key
  }

  refresh(): void {
    this.#refreshes++
    this.#entries.clear()
    // Reads that are running are not shared with later requests.
    this.#reads.clear()
  }

  #read(publicId: string): Key | undefined | Promise<Key | undefined> {
    if (this.#count >= maxReads) return Promise.reject(unverifiable(undefined))
    const readAt = this.#now()
    const found = attempt(() => this.#findKey(publicId))
    if (found instanceof Promise) return this.#share(publicId, found, readAt)
    this.#cache(publicId, found, readAt)
    return found
  }

  #share(publicId: string, found: Promise<Key | undefined>, readAt: number): Promise<Key | undefined> {
    const refreshesBefore = this.#refreshes
    this.#count++
    const read = found
      .then((key) => {
        // After a refresh, what was read may be older than the change.
        if (this.#refreshes === refreshesBefore) this.#cache(publicId, key, readAt)
        return key
      }, fail)
      .finally(() => {
        this.#count--
        if (this.#reads.get(publicId) === read) this.#reads.delete(publicId)
      })
    this.#reads.set(publicId, read)
    return read
  }

  #cache(publicId: string, key: Key | undefined, readAt: number): void {
    if (key === undefined) this.#entries.delete(publicId)
    else this.#entries.set(publicId, { key, readAt })
  }
}

/** An unavailable database must not look like an unknown key. */
function attempt<T>(find: () => T): T {
  try {
    return find()
  } catch (error) {
    return fail(error)
  }
}

function fail(cause: unknown): never {
  throw unverifiable(cause)
}

function unverifiable(cause: unknown): Error {
  return serviceUnavailable(
    'The key cannot be verified because the database is unavailable. Try again later.',
    cause,
  )
}
