import type { Statement } from 'bun:sqlite'
import { statSync } from 'node:fs'
import { causeOf, type Log } from '../../../lib/log.ts'
import { settleWithin } from '../../../lib/time.ts'
import type { Writer } from '../writer.ts'
import { CheckpointThread } from './checkpoint-thread.ts'
import { checkpointPages, type Database, inMemory, maxWalBytes, walPageBytes } from './database.ts'

/** Keeps the write-ahead log short. */
export type WalLimit = {
  /** Is called after each commit of this process. */
  committed(): void
  /** Stops, and ends the thread; resolves when that has closed its connection. */
  stop(): Promise<void>
}

type WalTimes = {
  /** The milliseconds from a commit until the log is checked. */
  readonly checkDelayMs: number
  /** The milliseconds from a failure until the next check. */
  readonly retryAfterMs: number
}

const defaultTimes: WalTimes = { checkDelayMs: 250, retryAfterMs: 10_000 }
/** How long a stop waits for a checkpoint, which the next start repeats. */
const stopTimeoutMs = 2000

/**
 * Makes the checkpoints of the database in a thread. SQLite would make them inside a commit, and block every request while
 * the disk syncs twice. Only writes wait, while the rest of the log is copied and it restarts.
 */
export function limitWalSize(
  database: Pick<Database, 'sqlite'>,
  writer: Pick<Writer, 'whilePaused'>,
  log: Log,
  times = defaultTimes,
): WalLimit {
  if (database.sqlite.filename === inMemory) return { committed() {}, async stop() {} }
  return new ThreadedCheckpoints(database.sqlite, writer, log, times)
}

class ThreadedCheckpoints implements WalLimit {
  readonly #sqlite: Database['sqlite']
  readonly #noCheckpoint: Statement<unknown[], []>
  readonly #writer: Pick<Writer, 'whilePaused'>
  readonly #log: Log
  readonly #times: WalTimes
  /** Started for the first long log. */
  #thread: CheckpointThread | undefined
  /** Set until the check has ended, so that checks do not overlap. */
  #timer: Timer | undefined
  #checking: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(sqlite: Database['sqlite'], writer: Pick<Writer, 'whilePaused'>, log: Log, times: WalTimes) {
    this.#sqlite = sqlite
    this.#noCheckpoint = sqlite.prepare('PRAGMA wal_checkpoint(NOOP)')
    this.#writer = writer
    this.#log = log
    this.#times = times
    this.#setAutomatic(false)
  }

  committed(): void {
    if (this.#timer === undefined && !this.#stopped) this.#checkAfter(this.#times.checkDelayMs)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await settleWithin(this.#checking, stopTimeoutMs)
    await this.#endThread()
  }

  #checkAfter(milliseconds: number): void {
    this.#timer = setTimeout(() => (this.#checking = this.#check()), milliseconds).unref()
  }

  async #check(): Promise<void> {
    const { checkDelayMs, retryAfterMs } = this.#times
    const next = await this.#shorten().then(
      (isShort) => (isShort ? undefined : checkDelayMs),
      async (error) => (await this.#failed(error), retryAfterMs),
    )
    this.#timer = undefined
    if (next !== undefined && !this.#stopped) this.#checkAfter(next)
  }

  /** Resolves with whether the log is short; it is not while a long read (a copy, a report) needs it. */
  async #shorten(): Promise<boolean> {
    if (this.#pages() <= checkpointPages) return true
    const thread = (this.#thread ??= new CheckpointThread(this.#sqlite.filename, maxWalBytes))
    await thread.copy()
    this.#setAutomatic(false)
    if (this.#stopped) return true
    const { busy } = await this.#writer.whilePaused(() => thread.restart())
    return busy === 0
  }

  /** The pages in the log. SQLite knows NOOP since 3.51; an older one, as macOS has, makes a checkpoint instead. */
  #pages(): number {
    if (sizeOf(`${this.#sqlite.filename}-wal`) < checkpointPages * walPageBytes) return 0
    return Number(this.#noCheckpoint.values()[0]?.[1])
  }

  /** A log that is checkpointed inside commits is better than one that grows. */
  async #failed(error: unknown): Promise<void> {
    await this.#endThread()
    if (this.#stopped) return
    this.#setAutomatic(true)
    this.#log.warn('The write-ahead log of the database could not be checkpointed.', {
      cause: causeOf(error),
    })
  }

  async #endThread(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.close()
  }

  #setAutomatic(enabled: boolean): void {
    if (!this.#stopped) this.#sqlite.run(`PRAGMA wal_autocheckpoint = ${enabled ? checkpointPages : 0}`)
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** The pages that one step returns; a step is small, because it delays requests. */
const stepPages = 250

/** The free pages that a file keeps for new rows: at least this many, and this share of all pages. */
const minFreePages = 1000
const minFreeShare = 0.1

/** Returns a function that does a small step of returning free space to the disk, and resolves with its pages. */
export function createSpaceReturn({ prepared }: Database, writer: Writer): () => Promise<number> {
  const count = (pragma: string) => Number(prepared(`PRAGMA ${pragma}`).values()[0]?.[0])

  function vacuumStep(): number {
    const before = count('freelist_count')
    if (before <= minFreePages || before <= count('page_count') * minFreeShare) return 0
    // Each row that is read returns one page.
    prepared(`PRAGMA incremental_vacuum(${stepPages})`).all()
    return before - count('freelist_count')
  }

  return () => writer.write(vacuumStep)
}
