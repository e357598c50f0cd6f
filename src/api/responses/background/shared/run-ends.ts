import type { RunClaims, RunKey } from '../../../../storage/ports/run-claims.ts'
import { cancelTimeoutMs, endNotStored } from '../cancel-timeout.ts'

export type RunEndsDependencies = {
  readonly claims: Pick<RunClaims, 'progress'>
  /** Claims the runs whose owners are gone, and ends them. */
  readonly recover: () => Promise<void>
}

/** The interval between two reads; it grows by a quarter until another run is waited for. */
const minIntervalMs = 20
const maxIntervalMs = 250
const growth = 1.25
/** The most runs that one statement reads. */
const maxRead = 100

/** The ends of cancelled runs that any process may have. All that are waited for are read together. */
export class RunEnds {
  readonly #parts: RunEndsDependencies
  readonly #waiting = new Map<string, Waiting>()
  #reading = false
  #recovering = false
  #intervalMs = minIntervalMs
  #timer: Timer | undefined

  constructor(parts: RunEndsDependencies) {
    this.#parts = parts
  }

  /** Resolves when the end of the run is stored, or the run was deleted; rejects with 503 if that takes too long. */
  wait(run: RunKey): Promise<void> {
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + cancelTimeoutMs
      this.#waiting.set(run.id, { run, deadline, resolve, reject })
      this.#intervalMs = minIntervalMs
      // Those that are cancelled in the same turn of the event loop share the first read.
      this.#schedule(0)
    })
  }

  #schedule(delayMs: number): void {
    if (this.#reading) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#readAll(), delayMs)
  }

  async #readAll(): Promise<void> {
    this.#reading = true
    const read = [...this.#waiting.values()]
    for (let start = 0; start < read.length; start += maxRead)
      await this.#read(read.slice(start, start + maxRead))
    this.#reading = false
    if (this.#waiting.size === 0) return
    this.#schedule(this.#intervalMs)
    this.#intervalMs = Math.min(maxIntervalMs, this.#intervalMs * growth)
  }

  async #read(entries: readonly Waiting[]): Promise<void> {
    try {
      // Only the status is needed, not the output.
      const keys = entries.map(({ run }) => ({ ...run, position: Number.MAX_SAFE_INTEGER }))
      const found = await this.#parts.claims.progress(keys)
      const unfinished = found.filter(({ status }) => status === 'queued' || status === 'in_progress')
      this.#settle(entries, new Set(unfinished.map(({ id }) => id)))
      if (unfinished.some(({ owned }) => !owned)) this.#recover()
    } catch (error) {
      for (const entry of entries) if (this.#remove(entry)) entry.reject(error)
    }
  }

  /** It is not awaited, because it may end many runs. If it fails, the next read fails too, or starts it again. */
  #recover(): void {
    if (this.#recovering) return
    this.#recovering = true
    const recovered = () => void (this.#recovering = false)
    this.#parts.recover().then(recovered, recovered)
  }

  #settle(entries: readonly Waiting[], unfinished: ReadonlySet<string>): void {
    const now = performance.now()
    for (const entry of entries) {
      if (!unfinished.has(entry.run.id)) {
        this.#remove(entry)
        entry.resolve()
      } else if (now > entry.deadline) {
        this.#remove(entry)
        entry.reject(endNotStored())
      }
    }
  }

  #remove({ run }: Waiting): boolean {
    return this.#waiting.delete(run.id)
  }
}

type Waiting = {
  readonly run: RunKey
  readonly deadline: number
  resolve(): void
  reject(error: unknown): void
}
