import { causeOf, type Log } from '../lib/log.ts'
import { monotonicNow, repeatEvery } from '../lib/time.ts'
import { hasEnded } from './common/os-process.ts'
import { createProcessWatch } from './common/process-watch.ts'
import type { ListedProcess, ProcessBeat } from './ports/processes.ts'
import type { SharedStore } from './ports/shared-store.ts'

/** This process among the processes of its database, as of the last beat. */
export type Membership = {
  /** The number of processes. */
  count(): number
  /** Whether this process does the work that one process is enough for, such as deleting expired data. */
  isFirst(): boolean
  /** Sets the reactions to what happens to the processes; what has happened before is reported now. */
  react(reactions: MembershipReactions): void
  stop(): void
}

export type MembershipReactions = {
  /** Other processes have died or left: settles what they left open. Called until it resolves, and never twice at once. */
  settleAbandoned(): Promise<void>
  /**
   * The others have removed this process, and settle what it left open: ends its calls, and forgets its leases and runs.
   * It is about to enter again under another id.
   */
  onRemoved(): void
  /** After each beat that succeeded. */
  onBeat?(): void
}

export type MembershipOptions = {
  readonly beatIntervalMs?: number
  /** A process that does not beat for this time is removed; one that has ended on this machine, at once. */
  readonly silenceMs?: number
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
}

const defaultBeatIntervalMs = 2000
const defaultSilenceMs = 10_000

/** Beats for this process until it is stopped, and removes others that are gone. Resolves after the first attempt. */
export async function startMembership(
  shared: Pick<SharedStore, 'process' | 'processes'>,
  log: Log,
  options: MembershipOptions = {},
): Promise<Membership> {
  const { beatIntervalMs = defaultBeatIntervalMs } = options
  const member = new Member(shared, log, options)
  await member.beat()
  const repeating = repeatEvery(
    beatIntervalMs,
    () => member.beat(),
    () => {},
  )
  return {
    count: () => member.ids.length,
    isFirst: () => member.ids[0] === shared.process.id(),
    react: (reactions) => member.react(reactions),
    stop: repeating.stop,
  }
}

class Member {
  /** All processes, oldest first. */
  ids: readonly string[] = []
  readonly #shared: Pick<SharedStore, 'process' | 'processes'>
  readonly #log: Log
  readonly #silenceMs: number
  readonly #watch
  #reactions: MembershipReactions | undefined
  #removed = false
  #abandoned = false
  #settling = false

  constructor(shared: Pick<SharedStore, 'process' | 'processes'>, log: Log, options: MembershipOptions) {
    const {
      beatIntervalMs = defaultBeatIntervalMs,
      silenceMs = defaultSilenceMs,
      now = monotonicNow,
    } = options
    this.#shared = shared
    this.#log = log
    this.#silenceMs = silenceMs
    this.#watch = createProcessWatch({ silenceMs, maxGapMs: 2 * beatIntervalMs + 1000, now })
  }

  react(reactions: MembershipReactions): void {
    this.#reactions = reactions
    void this.#settleAbandoned()
  }

  /** Never rejects. */
  async beat(): Promise<void> {
    try {
      const { process, processes } = this.#shared
      if (!(await processes.beat(process.id()))) await this.#enterAgain()
      const startedAt = this.#watch.now()
      const found = await processes.list()
      const silent = this.#watch.observe(found, startedAt)
      this.#note(found.map(({ id }) => id))
      for (const other of found) if (other.id !== process.id()) await this.#judge(other, silent)
      this.#reactions?.onBeat?.()
    } catch {
      // The health check logs the outage. Nobody is judged by what happened in the meantime.
      this.#watch.reset()
    }
    void this.#settleAbandoned()
  }

  /** The next beat tries it again if the store cannot be reached. */
  async #enterAgain(): Promise<void> {
    const { process, processes } = this.#shared
    if (!this.#removed) {
      this.#removed = true
      this.#log.error(
        `This process gave no sign of life for ${this.#silenceMs / 1000} s and was taken for dead. ` +
          'Its open requests end, and it continues as a new process.',
      )
      process.renew()
      this.#watch.reset()
      this.#reactions?.onRemoved()
    }
    // Without its process of the operating system: in clones of one virtual machine, each seems to have ended to the others.
    await processes.enter(process.id())
    this.#removed = false
  }

  async #judge(other: ListedProcess, silent: readonly ProcessBeat[]): Promise<void> {
    if (other.osProcess !== null && hasEnded(other.osProcess))
      await this.#remove(other, 'on this machine was killed or crashed,')
    else if (silent.includes(other))
      await this.#remove(other, `gave no sign of life for ${this.#silenceMs / 1000} s`)
  }

  async #remove(other: ProcessBeat, reason: string): Promise<void> {
    if (!(await this.#shared.processes.remove(other))) return
    this.#log.warn(`Another process ${reason} and was removed.`, { process: other.id })
    this.#note(this.ids.filter((id) => id !== other.id))
  }

  /** A process that has disappeared from the list was removed or has left: what it left open must be settled. */
  #note(ids: readonly string[]): void {
    const own = this.#shared.process.id()
    if (this.ids.some((id) => id !== own && !ids.includes(id))) this.#abandoned = true
    this.ids = ids
  }

  async #settleAbandoned(): Promise<void> {
    if (!this.#abandoned || this.#settling || this.#reactions === undefined) return
    this.#abandoned = false
    this.#settling = true
    try {
      await this.#reactions.settleAbandoned()
    } catch (error) {
      this.#abandoned = true
      this.#log.warn('What another process left open could not be settled yet.', { cause: causeOf(error) })
    }
    this.#settling = false
  }
}
