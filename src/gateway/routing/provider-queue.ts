import type { Provider, Slots } from '../../providers/provider.ts'

/** A call that waits for a slot, of one provider or of several. */
export type Waiter = {
  /** Whose turn it is: calls of one key share its turns. */
  readonly key: string
  /** No client waits for a background run: it comes after all other calls. */
  readonly background: boolean
  /** A slot of the queue is the waiter's; `release` frees it, once. The waiter leaves its queues at once. */
  admit(queue: ProviderQueue, release: () => void): void
  /** A call of a key with fewer calls in the queue takes its place. */
  displace(queue: ProviderQueue): void
}

/** The current load of a provider: its requests in progress, and the calls that wait for it. */
export type QueueStatus = {
  readonly provider: string
  readonly concurrency: number
  readonly inUse: number
  readonly waiting: number
}

/** The queues of the providers with a limited number of slots, in this process. They outlive a reload. */
export class ProviderQueues {
  readonly #queues = new Map<string, ProviderQueue>()

  /** Applies the limits of the providers, also to calls in progress and to those that wait. */
  configure(providers: Iterable<Provider>): void {
    const limits = new Map(Array.from(providers, ({ name, slots }) => [name, slots]))
    for (const [name, queue] of this.#queues) {
      queue.setLimits(limits.get(name) ?? unlimited)
    }
  }

  /** Returns the queue of the provider; undefined where it has none. Calls of an earlier configuration use it, too. */
  of({ name, slots }: Provider): ProviderQueue | undefined {
    if (slots === undefined) return undefined
    let queue = this.#queues.get(name)
    if (queue === undefined) this.#queues.set(name, (queue = new ProviderQueue(slots)))
    return queue
  }

  /** Returns the status of the queues that have been used and still have limits. */
  status(): readonly QueueStatus[] {
    return [...this.#queues].flatMap(([provider, { concurrency, inUse, waiting }]) =>
      Number.isFinite(concurrency) ? [{ provider, concurrency, inUse, waiting }] : [],
    )
  }
}

const unlimited: Slots = { concurrency: Number.POSITIVE_INFINITY, waitMs: 0, length: 0 }

/** The slots of one provider, and the calls that wait for one. A free slot goes to the key that has the fewest. */
export class ProviderQueue {
  readonly #interactive = new Turns()
  readonly #background = new Turns()
  /** The slots in use by key. */
  readonly #slots = new Map<string, number>()
  #limits: Slots
  #inUse = 0
  /** The average time for which a slot is in use, in milliseconds: recent calls count most. */
  #averageMs = 0

  constructor(limits: Slots) {
    this.#limits = limits
  }

  get concurrency(): number {
    return this.#limits.concurrency
  }

  get inUse(): number {
    return this.#inUse
  }

  get waiting(): number {
    return this.#interactive.size + this.#background.size
  }

  setLimits(limits: Slots): void {
    this.#limits = limits
    this.#admitWaiting()
  }

  /** Takes a free slot and returns the function that frees it; undefined if all are in use. */
  tryAcquire(key: string): (() => void) | undefined {
    return this.#inUse < this.#limits.concurrency ? this.#take(key) : undefined
  }

  /** Adds the call to the queue; returns false if the queue is full. */
  enter(waiter: Waiter): boolean {
    const turns = this.#turnsOf(waiter)
    if (turns.size >= this.#limits.length) {
      const displaced = turns.crowdedOut(waiter.key)
      if (displaced === undefined) return false
      turns.remove(displaced)
      displaced.displace(this)
    }
    turns.add(waiter)
    return true
  }

  leave(waiter: Waiter): void {
    this.#turnsOf(waiter).remove(waiter)
  }

  /** The estimated time until the calls that wait now have had their turn, in milliseconds. */
  estimatedWaitMs(): number {
    return (this.#averageMs * (this.waiting + 1)) / this.#limits.concurrency
  }

  #turnsOf({ background }: Waiter): Turns {
    return background ? this.#background : this.#interactive
  }

  #take(key: string): () => void {
    this.#inUse++
    this.#slots.set(key, (this.#slots.get(key) ?? 0) + 1)
    const takenAt = performance.now()
    let released = false
    return () => {
      if (released) return
      released = true
      this.#release(key, performance.now() - takenAt)
    }
  }

  #release(key: string, milliseconds: number): void {
    this.#inUse--
    const left = (this.#slots.get(key) ?? 1) - 1
    if (left === 0) this.#slots.delete(key)
    else this.#slots.set(key, left)
    this.#averageMs = this.#averageMs === 0 ? milliseconds : 0.9 * this.#averageMs + 0.1 * milliseconds
    this.#admitWaiting()
  }

  #admitWaiting(): void {
    while (this.#inUse < this.#limits.concurrency) {
      const waiter = this.#interactive.next(this.#slots) ?? this.#background.next(this.#slots)
      if (waiter === undefined) return
      waiter.admit(this, this.#take(waiter.key))
    }
  }
}

/** The calls that wait, by key; the key that has waited longest for a turn comes first. */
class Turns {
  readonly #keys = new Map<string, Waiter[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(waiter: Waiter): void {
    const waiters = this.#keys.get(waiter.key)
    if (waiters) waiters.push(waiter)
    else this.#keys.set(waiter.key, [waiter])
    this.#size++
  }

  remove(waiter: Waiter): void {
    const waiters = this.#keys.get(waiter.key)
    const index = waiters?.indexOf(waiter) ?? -1
    if (waiters === undefined || index < 0) return
    waiters.splice(index, 1)
    this.#size--
    if (waiters.length === 0) this.#keys.delete(waiter.key)
  }

  /** Removes and returns the first call of the key that has the fewest slots, which then comes after the others. */
  next(slots: ReadonlyMap<string, number>): Waiter | undefined {
    let fewest = Number.POSITIVE_INFINITY
    let turn: string | undefined
    for (const key of this.#keys.keys()) {
      const count = slots.get(key) ?? 0
      if (count >= fewest) continue
      fewest = count
      turn = key
    }
    const waiters = this.#keys.get(turn ?? '')
    const waiter = waiters?.[0]
    if (turn === undefined || waiters === undefined || waiter === undefined) return undefined
    this.remove(waiter)
    this.#keys.delete(turn)
    if (waiters.length > 0) this.#keys.set(turn, waiters)
    return waiter
  }

  /** The last call of the key with the most, if it still has as many as this key without it; otherwise undefined. */
  crowdedOut(key: string): Waiter | undefined {
    const own = this.#keys.get(key)?.length ?? 0
    let crowd: readonly Waiter[] = []
    for (const waiters of this.#keys.values()) if (waiters.length > crowd.length) crowd = waiters
    return crowd.length > own + 1 ? crowd.at(-1) : undefined
  }
}
