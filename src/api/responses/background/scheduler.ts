import type { ConcurrencySlot } from '../../../gateway/rate-limits/admission.ts'
import { ApiError } from '../../../lib/errors/errors.ts'
import type { ActiveRuns } from './active-runs.ts'
import { RunQueue } from './run-queue.ts'
import { requireValidKey, type Run, type RunDependencies } from './run.ts'
import { monotonicNow } from '../../../lib/time.ts'

type SchedulerDependencies = Pick<RunDependencies, 'current' | 'keys' | 'organizations'>

/** After this interval, organizations that had no free concurrency slot for their runs are tried again. */
const slotRetryIntervalMs = 200
/** The runs that are dropped in one turn of the event loop, because the end of each is written. */
const maxDropped = 20

/** Queues runs, and starts each when it is the turn of its organization and the concurrency allows it. */
export class Scheduler {
  readonly queue = new RunQueue()
  readonly #active: ActiveRuns
  readonly #parts: SchedulerDependencies
  /** The runs of each organization that have a slot, or wait for the answer whether they have one. */
  readonly #running = new Map<string, number>()
  readonly #share: SlotShare
  /** The organizations that are parked because the free slots are left to others. */
  readonly #yielding = new Set<string>()
  /** The number of runs that wait for the answer whether they have a slot. */
  #starting = 0
  #paused = false
  #retry: Timer | undefined

  constructor(active: ActiveRuns, parts: SchedulerDependencies) {
    this.#active = active
    this.#parts = parts
    this.#share = createSlotShare(parts.organizations.areSeveral, () => this.#startYielding())
  }

  /** The organizations of which this process starts no run at the moment. */
  blocked(): readonly string[] {
    const yielding = this.#isOpenToAll() ? [] : this.#running.keys()
    return [...new Set([...this.queue.parked, ...yielding])]
  }

  add(run: Run): void {
    this.queue.add(run)
    this.#startRuns()
  }

  /** Starts what is possible now: the settings have changed, or the organization has released a concurrency slot. */
  schedule(organization?: string): void {
    this.queue.unpark(organization)
    this.#startYielding()
  }

  /** Starts no runs from now on. */
  pause(): void {
    this.#paused = true
    clearTimeout(this.#retry)
  }

  /** Starts runs up to the concurrency; an organization without a free slot does not block the others. */
  #startRuns(): void {
    clearTimeout(this.#retry)
    if (this.#paused) return
    const { concurrency } = this.#parts.current()
    let dropped = 0
    while (this.#active.size + this.#starting < concurrency) {
      const run = this.queue.first()
      if (run === undefined) break
      if (!this.#startOrDrop(run) && ++dropped >= maxDropped) {
        this.#retry = setTimeout(() => this.#startRuns(), 1)
        return
      }
    }
    // The end of a foreground call also releases a slot, and does not call `schedule`.
    if (this.queue.isWaiting()) this.#retry = setTimeout(() => this.schedule(), slotRetryIntervalMs)
  }

  /** Starts the first run if its organization has a free slot; false for a run that had to be dropped. */
  #startOrDrop(run: Run): boolean {
    const rejection = rejectionOf(run, this.#parts.keys)
    if (rejection) {
      this.queue.removeFirst()
      void this.#active.drop(run, rejection)
      return false
    }
    const { organization } = run.live
    if (this.#running.has(organization) && !this.#isOpenToAll()) {
      this.#yielding.add(organization)
      this.queue.park()
      return true
    }
    const slot = run.slot.start()
    if (slot instanceof Promise) void this.#startLater(run, slot)
    else if (slot === undefined) this.#wait(run)
    else {
      this.queue.removeFirst()
      void this.#start(run, slot)
    }
    return true
  }

  /** Another key of the organization may have a free slot where that has one. */
  #wait(run: Run): void {
    if (run.slot.waitsForOrganization) this.queue.park()
    else this.queue.skipKey(run)
  }

  /** Whether organizations with a run in progress may take the next slot, too: the last slots are left to the others. */
  #isOpenToAll(): boolean {
    const { concurrency } = this.#parts.current()
    const free = concurrency - this.#active.size - this.#starting
    return free > this.#share(concurrency)
  }

  #startYielding(): void {
    for (const organization of this.#yielding) this.queue.unpark(organization)
    this.#yielding.clear()
    this.#startRuns()
  }

  async #start(run: Run, slot: ConcurrencySlot): Promise<void> {
    const { organization } = run.live
    this.#count(organization, 1)
    await this.#active.start(run, slot)
    this.#count(organization, -1)
    this.schedule(organization)
  }

  #count(organization: string, by: 1 | -1): void {
    const count = (this.#running.get(organization) ?? 0) + by
    if (count > 0) this.#running.set(organization, count)
    else this.#running.delete(organization)
  }

  /** Meanwhile the other organizations have their turns, and the run may be cancelled. */
  async #startLater(run: Run, pending: Promise<ConcurrencySlot | undefined>): Promise<void> {
    const { live } = run
    this.queue.park()
    this.#starting++
    this.#count(live.organization, 1)
    // Without the database, it is tried again later.
    const slot = await pending.catch(() => undefined)
    this.#starting--
    this.#count(live.organization, -1)
    if (slot === undefined) {
      if (run.slot.waitsForOrganization) return
      this.queue.skipKey(run)
      return this.#startRuns()
    }
    if (this.#paused || this.queue.remove(live) === undefined) slot.release(0)
    else void this.#start(run, slot)
    this.schedule(live.organization)
  }
}

/** Why the run must not start any more. A 503 is no reason: the database is unavailable, and the run checks again. */
function rejectionOf({ metadata }: Run, keys: RunDependencies['keys']): ApiError | undefined {
  try {
    const key = keys.find(metadata.key)
    // A key that is not cached is checked when the run has started, which reports an error.
    if (key instanceof Promise) key.catch(() => {})
    else requireValidKey(metadata.key, key)
    return undefined
  } catch (error) {
    return error instanceof ApiError && error.status !== 503 ? error : undefined
  }
}

/** After this time, it is read again whether there are several organizations. */
const refreshAfterMs = 1000
/** An older answer counts for nothing. */
const maxAgeMs = 3000

/** Returns how many of the slots are left to organizations without a run in progress: none if there is one only. */
type SlotShare = (concurrency: number) => number

/** While it is unknown whether there are several organizations, slots are left to others; `onRead` is called when it is known. */
function createSlotShare(areSeveral: () => Promise<boolean>, onRead: () => void): SlotShare {
  let several = true
  let readAt = Number.NEGATIVE_INFINITY
  let reading = false

  async function read(): Promise<void> {
    several = await areSeveral()
    readAt = monotonicNow()
    onRead()
  }

  return (concurrency) => {
    const age = monotonicNow() - readAt
    if (age > refreshAfterMs && !reading) {
      reading = true
      const ended = () => void (reading = false)
      // Without the database, the next call reads it again.
      read().then(ended, ended)
    }
    return several || age > maxAgeMs ? shareOf(concurrency) : 0
  }
}

/** A quarter, and at least one; a single slot is for everybody. */
function shareOf(concurrency: number): number {
  return concurrency === 1 ? 0 : Math.max(1, Math.floor(concurrency / 4))
}
