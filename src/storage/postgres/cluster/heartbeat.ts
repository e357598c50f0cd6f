import { causeOf, type Log } from '../../../lib/log.ts'
import { monotonicNow, repeatEvery } from '../../../lib/time.ts'
import type { ProcessIdentity } from '../../common/process-identity.ts'
import type { PeerHandlers, Peers } from '../../ports/peers.ts'
import { hasEnded } from './os-process.ts'
import type { ListedProcess, ProcessBeat, Processes } from './processes.ts'

/** Where and how this process sends its heartbeats. */
type HeartbeatDependencies = {
  readonly process: ProcessIdentity
  readonly processes: Processes
  /** Called after each heartbeat that succeeded. */
  readonly onHeartbeat?: () => void
  readonly log: Log
}

type HeartbeatOptions = {
  readonly heartbeatIntervalMs?: number | undefined
  /** A process without a heartbeat for this time is evicted; one that has ended on this machine, at once. */
  readonly evictAfterMs?: number | undefined
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
}

const defaultHeartbeatIntervalMs = 2000
const defaultEvictAfterMs = 10_000

/** Sends the heartbeats of this process until it is stopped, and evicts others. Resolves after the first attempt. */
export async function startHeartbeat(
  parts: HeartbeatDependencies,
  options: HeartbeatOptions = {},
): Promise<Peers & { stop(): void }> {
  const { process, processes } = parts
  const member = new Member(parts, options)
  await member.beat()
  const interval = options.heartbeatIntervalMs ?? defaultHeartbeatIntervalMs
  const repeating = repeatEvery(
    interval,
    () => member.beat(),
    () => {},
  )
  return {
    id: process.id,
    count: () => member.ids.length,
    isFirst: () => member.ids[0] === process.id(),
    watch: (handlers) => member.watch(handlers),
    async evict(id) {
      const ended = (await processes.list()).find((other) => other.id === id)
      if (ended !== undefined) await processes.evict(ended)
    },
    stop: repeating.stop,
  }
}

class Member {
  /** All processes, oldest first. */
  ids: readonly string[] = []
  readonly #parts: HeartbeatDependencies
  readonly #evictAfterMs: number
  readonly #watch: HeartbeatWatch
  #handlers: PeerHandlers | undefined
  #evicted = false
  #abandoned = false
  #settling = false

  constructor(parts: HeartbeatDependencies, options: HeartbeatOptions) {
    const { heartbeatIntervalMs = defaultHeartbeatIntervalMs, now = monotonicNow } = options
    this.#parts = parts
    this.#evictAfterMs = options.evictAfterMs ?? defaultEvictAfterMs
    const maxGapMs = 2 * heartbeatIntervalMs + 1000
    this.#watch = new HeartbeatWatch({ evictAfterMs: this.#evictAfterMs, maxGapMs, now })
  }

  watch(handlers: PeerHandlers): { stop(): void } {
    this.#handlers = handlers
    void this.#settleAbandoned()
    return { stop: () => void (this.#handlers = undefined) }
  }

  /** Never rejects. */
  async beat(): Promise<void> {
    const { process, processes, onHeartbeat } = this.#parts
    try {
      if (!(await processes.heartbeat(process.id()))) await this.#registerAgain()
      const startedAt = this.#watch.now()
      const found = await processes.list()
      const silent = this.#watch.observe(found, startedAt)
      this.#note(found.map(({ id }) => id))
      for (const other of found) if (other.id !== process.id()) await this.#evictIfDead(other, silent)
      onHeartbeat?.()
    } catch {
      // The health check logs the outage. The time without heartbeats starts again after it.
      this.#watch.reset()
    }
    void this.#settleAbandoned()
  }

  /** The next heartbeat tries it again if the store cannot be reached. */
  async #registerAgain(): Promise<void> {
    const { process, processes, log } = this.#parts
    if (!this.#evicted) {
      this.#evicted = true
      log.error(
        `No heartbeat for ${this.#evictAfterMs / 1000} s: this process was evicted. ` +
          'Its open requests end, and it continues as a new process.',
      )
      process.renew()
      this.#watch.reset()
      this.#handlers?.onEvicted()
    }
    // Without its process of the operating system: in clones of one virtual machine, each seems to have ended to the others.
    await processes.register(process.id())
    this.#evicted = false
  }

  async #evictIfDead(other: ListedProcess, silent: readonly ProcessBeat[]): Promise<void> {
    if (other.osProcess !== null && hasEnded(other.osProcess))
      await this.#evict(other, 'A process on this machine was killed or crashed. It was evicted.')
    else if (silent.includes(other))
      await this.#evict(
        other,
        `No heartbeat of a process for ${this.#evictAfterMs / 1000} s: it was evicted.`,
      )
  }

  async #evict(other: ProcessBeat, message: string): Promise<void> {
    const { processes, log } = this.#parts
    if (!(await processes.evict(other))) return
    log.warn(message, { process: other.id })
    this.#note(this.ids.filter((id) => id !== other.id))
  }

  /** A process that has disappeared from the list was evicted or has ended: what it left open must be settled. */
  #note(ids: readonly string[]): void {
    const own = this.#parts.process.id()
    if (this.ids.some((id) => id !== own && !ids.includes(id))) this.#abandoned = true
    this.ids = ids
  }

  async #settleAbandoned(): Promise<void> {
    if (!this.#abandoned || this.#settling || this.#handlers === undefined) return
    this.#abandoned = false
    this.#settling = true
    try {
      await this.#handlers.settleAbandoned()
    } catch (error) {
      this.#abandoned = true
      const cause = causeOf(error)
      this.#parts.log.warn('What another process left open could not be settled yet.', { cause })
    }
    this.#settling = false
  }
}

type HeartbeatWatchOptions = {
  readonly evictAfterMs: number
  /** After a longer time between two observations, this process itself was suspended. */
  readonly maxGapMs: number
  readonly now: () => number
}

/** Judges by their heartbeats whether processes are alive, with the clock of this process. */
export class HeartbeatWatch {
  readonly now: () => number
  readonly #options: HeartbeatWatchOptions
  #seen = new Map<string, { readonly beat: number; readonly since: number }>()
  #observedAt = Number.NEGATIVE_INFINITY

  constructor(options: HeartbeatWatchOptions) {
    this.now = options.now
    this.#options = options
  }

  /**
   * Notes the counts of a list that was requested at `requestedAt`, and returns the processes without a heartbeat for the
   * time of eviction, in which every observation of this process succeeded.
   */
  observe(processes: readonly ProcessBeat[], requestedAt: number): readonly ProcessBeat[] {
    const { evictAfterMs, maxGapMs } = this.#options
    const answeredAt = this.now()
    if (answeredAt - this.#observedAt > maxGapMs) this.reset()
    this.#observedAt = answeredAt
    const seen = this.#seen
    this.#seen = new Map(
      processes.map(({ id, beat }) => {
        const last = seen.get(id)
        return [id, last?.beat === beat ? last : { beat, since: answeredAt }]
      }),
    )
    // A count that is the same as before has not changed from when that was received until this list was requested.
    return processes.filter(({ id, beat }) => {
      const last = seen.get(id)
      return last?.beat === beat && requestedAt - last.since >= evictAfterMs
    })
  }

  /** Forgets all observations: while the store cannot be reached, other processes may be unable to send heartbeats. */
  reset(): void {
    this.#seen = new Map()
  }
}
