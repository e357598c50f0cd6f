import type { LoadedSettings } from '../../../config/load.ts'
import { causeOf, type Log } from '../../../lib/log.ts'
import { settleWithin, wait } from '../../../lib/time.ts'
import { CommandError } from '../../errors.ts'
import type { BannerFacts } from '../banner.ts'
import { CallRejected } from './channel.ts'
import type { WorkerInput } from './procedures.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

/** The dependencies of a pool of workers. */
export type PoolOptions = {
  readonly count: number
  spawn(): WorkerProcess
  /** The input of a worker for the active settings. */
  input(number: number, loaded: LoadedSettings): WorkerInput
  readonly loaded: LoadedSettings
  /** Called when a worker has ended, for whatever reason. */
  onEnded(worker: WorkerProcess): void
  readonly log: Log
  /** Time for workers to close their databases when they have drained; default 10,000 ms. */
  readonly endTimeoutMs?: number
}

/** A worker that does not start within this time is killed: a database that is far away or busy opens slowly. */
const startTimeoutMs = 60_000
const callTimeoutMs = 1000
const defaultEndTimeoutMs = 10_000
/** So many workers in a row that end before they are ready end the server, unless another one serves. */
const maxFailedStarts = 5
/** A process that ran for this time did not fail to start: its replacement starts without a delay. */
const stableMs = 10_000
/** The delay before a process is started again: it doubles while the process ends soon after its start. */
const minDelayMs = 100
const maxDelayMs = 10_000

/** The workers of a supervisor; one that ends is replaced until the pool drains. */
export class WorkerPool {
  readonly #options: PoolOptions
  /** The workers that run, some of which are not ready. */
  readonly #running = new Set<WorkerProcess>()
  readonly #ready = new Set<WorkerProcess>()
  #nextReady = quietResolvers<WorkerProcess>()
  readonly #failed = quietResolvers<never>()
  readonly #draining = new AbortController()
  #loaded: LoadedSettings
  /** Until all workers have been ready. */
  #isStarting = true
  #failedStarts = 0
  #restarts = 0
  #slots: Promise<unknown> = Promise.resolve()

  constructor(options: PoolOptions) {
    this.#options = options
    this.#loaded = options.loaded
  }

  /** Starts the workers and resolves when all of them are ready; rejects with the reason why one cannot start. */
  async start(): Promise<BannerFacts> {
    const numbers = Array.from({ length: this.#options.count }, (_, index) => index + 1)
    const slots = numbers.map((number) => {
      const ready = Promise.withResolvers<BannerFacts>()
      return { ready: ready.promise, ended: this.#keepRunning(number, ready.resolve) }
    })
    this.#slots = Promise.all(slots.map(({ ended }) => ended))
    const [facts] = await Promise.race([Promise.all(slots.map(({ ready }) => ready)), this.#failed.promise])
    this.#isStarting = false
    if (facts === undefined) throw new Error('A pool has at least one worker.')
    return facts
  }

  /** Rejects when the workers end repeatedly before they are ready, or one rejects its first start. */
  get failed(): Promise<never> {
    return this.#failed.promise
  }

  /** The settings of the workers. */
  get loaded(): LoadedSettings {
    return this.#loaded
  }

  /** The workers that serve. */
  ready(): readonly WorkerProcess[] {
    return [...this.#ready]
  }

  /** Resolves with a worker that serves: with the next one that is ready if there is none. Rejects when the workers stop. */
  async anyReady(): Promise<WorkerProcess> {
    const [worker] = this.#ready
    return worker ?? (await this.#nextReady.promise)
  }

  /** How many workers were replaced. */
  restarts(): number {
    return this.#restarts
  }

  /** Sets the settings that a worker starts with from now on, and that those which are starting receive then. */
  setLoaded(loaded: LoadedSettings): void {
    this.#loaded = loaded
  }

  /**
   * Lets the workers drain, and ends them at once when `abort` resolves; resolves when all have ended. Workers that do not
   * end in time are killed.
   */
  async drain(drainMs: number, abort: Promise<unknown>): Promise<void> {
    this.#draining.abort()
    this.#nextReady.reject(new Error('The workers are being stopped.'))
    this.#tell('drain')
    const ended = this.#slots
    void abort.then(() => this.#tell('abort'))
    const deadline = Promise.withResolvers<void>()
    const { endTimeoutMs = defaultEndTimeoutMs } = this.#options
    const timer = setTimeout(deadline.resolve, drainMs + endTimeoutMs)
    const aborted = abort.then(() => settleWithin(ended, endTimeoutMs))
    await Promise.race([ended, deadline.promise, aborted])
    clearTimeout(timer)
    this.#kill()
    await ended
  }

  #tell(name: 'drain' | 'abort'): void {
    for (const worker of this.#running)
      // A worker that has ended needs no word, and one that does not answer is killed later.
      worker.call(name, undefined, callTimeoutMs).catch(() => {})
  }

  #kill(): void {
    for (const worker of this.#running) {
      this.#options.log.warn('A worker did not end in time and was killed.', { pid: worker.pid })
      worker.kill()
    }
  }

  async #keepRunning(number: number, onReady: (facts: BannerFacts) => void): Promise<void> {
    const { signal } = this.#draining
    let delayMs = 0
    while (!signal.aborted) {
      const startedAt = performance.now()
      try {
        await this.#run(number, onReady)
      } catch (error) {
        // No process can be created at the moment.
        this.#startFailed(error)
      }
      if (signal.aborted) return
      this.#restarts++
      if (performance.now() - startedAt >= stableMs) delayMs = 0
      // It rejects only when the signal aborts.
      if (delayMs > 0) await wait(delayMs, signal).catch(() => {})
      delayMs = Math.min(Math.max(delayMs * 2, minDelayMs), maxDelayMs)
    }
  }

  /** Runs one process until it ends. */
  async #run(number: number, onReady: (facts: BannerFacts) => void): Promise<void> {
    const worker = this.#options.spawn()
    this.#running.add(worker)
    const [end] = await Promise.all([worker.ended, this.#start(worker, number, onReady)])
    this.#running.delete(worker)
    this.#ready.delete(worker)
    this.#options.onEnded(worker)
    if (this.#draining.signal.aborted) return
    this.#options.log.error('A worker has ended unexpectedly. It is replaced.', fieldsOf(number, worker, end))
    this.#settle(worker)
  }

  /** Lets another worker settle what this one left open. Without one, the next to start does it after a while. */
  #settle({ process }: WorkerProcess): void {
    const [other] = this.#ready
    if (process !== undefined) other?.call('evict', process, callTimeoutMs).catch(() => {})
  }

  async #start(worker: WorkerProcess, number: number, onReady: (facts: BannerFacts) => void): Promise<void> {
    const loaded = this.#loaded
    try {
      const { facts, process } = await worker.call(
        'start',
        this.#options.input(number, loaded),
        startTimeoutMs,
      )
      worker.process = process
      // The settings were reloaded meanwhile.
      if (loaded !== this.#loaded) await worker.call('reload', this.#loaded, startTimeoutMs)
      this.#ready.add(worker)
      this.#nextReady.resolve(worker)
      this.#nextReady = quietResolvers()
      this.#failedStarts = 0
      onReady(facts)
    } catch (error) {
      worker.kill()
      this.#startFailed(error)
    }
  }

  #startFailed(error: unknown): void {
    if (this.#draining.signal.aborted) return
    this.#failedStarts++
    const reason = error instanceof CallRejected ? error.message : undefined
    const isFirst = this.#restarts === 0 && reason !== undefined
    const isNecessary = this.#isStarting || this.#ready.size === 0
    if (isFirst || (isNecessary && this.#failedStarts >= maxFailedStarts))
      return this.#failed.reject(
        new CommandError(reason ?? 'The workers cannot start: they end before they are ready.'),
      )
    this.#options.log.error('A worker could not start.', { cause: reason ?? causeOf(error) })
  }
}

/** Like `Promise.withResolvers`, but a rejection that nobody awaits is not reported as unhandled. */
function quietResolvers<Value>(): PromiseWithResolvers<Value> {
  const resolvers = Promise.withResolvers<Value>()
  resolvers.promise.catch(() => {})
  return resolvers
}

function fieldsOf(number: number, { pid }: WorkerProcess, { exitCode, signal }: WorkerEnd) {
  return { worker: number, pid, ...(signal === null ? { exit_code: exitCode } : { signal }) }
}
