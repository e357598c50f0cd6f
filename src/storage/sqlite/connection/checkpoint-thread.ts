import { withTimeout } from '../../../lib/time.ts'

/** A copy of gigabytes takes less. */
const copyTimeoutMs = 5 * 60_000
/** Writers wait for it, and are refused later if the thread still holds the lock. */
const restartTimeoutMs = 10_000
const closeTimeoutMs = 2000

/** Whether (1) or not (0) another connection was in the way of a step. */
type CheckpointResult = { readonly busy: number }

/** A thread that makes the checkpoints of a database, because they sync the disk, which would block every request. */
export class CheckpointThread {
  readonly #file: string
  readonly #maxBytes: number
  readonly #url = URL.createObjectURL(new Blob([program], { type: 'text/javascript' }))
  readonly #worker = new Worker(this.#url, { smol: true })
  #running: PromiseWithResolvers<CheckpointResult> | undefined

  /** `maxBytes` is the size to which a longer file is truncated when the log restarts. */
  constructor(file: string, maxBytes: number) {
    this.#file = file
    this.#maxBytes = maxBytes
    this.#worker.addEventListener('message', ({ data }: MessageEvent<Answer>) =>
      'error' in data ? this.#fail(data.error) : this.#running?.resolve(data),
    )
    this.#worker.addEventListener('error', ({ message }) => this.#fail(message))
    this.#worker.addEventListener('close', () => this.#fail('The thread of the checkpoints has ended.'))
    // The process may exit during a checkpoint: SQLite repeats it.
    this.#worker.unref()
  }

  /** Copies the log to the database, while others write; rejects if that fails. */
  copy(): Promise<CheckpointResult> {
    return this.#run('copy', copyTimeoutMs)
  }

  /** Copies the rest and restarts the log, unless another connection is using it; rejects if that fails. */
  restart(): Promise<CheckpointResult> {
    return this.#run('restart', restartTimeoutMs)
  }

  /** Ends the thread, and closes its connection, unless a step is running: the last connection removes the log. */
  async close(): Promise<void> {
    if (this.#running === undefined) await this.#run('close', closeTimeoutMs).catch(() => {})
    this.#fail('The checkpoint was stopped.')
    this.#worker.terminate()
    URL.revokeObjectURL(this.#url)
  }

  /** A step is not started before the last one has ended. */
  #run(step: 'copy' | 'restart' | 'close', timeoutMs: number): Promise<CheckpointResult> {
    const running = Promise.withResolvers<CheckpointResult>()
    this.#running = running
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin.
    this.#worker.postMessage({ step, file: this.#file, maxBytes: this.#maxBytes })
    return withTimeout(running.promise, timeoutMs, timedOut).finally(() => (this.#running = undefined))
  }

  #fail(message: string): void {
    this.#running?.reject(new Error(message))
  }
}

type Answer = CheckpointResult | { readonly error: string }

function timedOut(): Error {
  return new Error('The checkpoint timed out.')
}

/**
 * Program text, because a compiled executable has no file to start the thread from. The first copy may take seconds, and
 * the second one copies what was written during it; so little is left for `restart`, for which writers wait. The first
 * write to a new log syncs it; it is made here, so that no request waits for that.
 */
const program = `
import { Database } from 'bun:sqlite'
let sqlite
function open(file, maxBytes) {
  const opened = new Database(file, { readwrite: true, create: false })
  opened.run('PRAGMA busy_timeout = 0')
  opened.run('PRAGMA synchronous = NORMAL')
  opened.run('PRAGMA journal_size_limit = ' + maxBytes)
  return opened
}
function get(query) {
  using statement = sqlite.prepare(query)
  return statement.get()
}
function writeFirstPage() {
  sqlite.run('BEGIN IMMEDIATE')
  sqlite.run('PRAGMA user_version = ' + get('PRAGMA user_version').user_version)
  sqlite.run('COMMIT')
}
const steps = {
  copy({ file, maxBytes }) {
    sqlite ??= open(file, maxBytes)
    get('PRAGMA wal_checkpoint(PASSIVE)')
    return get('PRAGMA wal_checkpoint(PASSIVE)')
  },
  restart() {
    const result = get('PRAGMA wal_checkpoint(RESTART)')
    if (result.busy === 0) writeFirstPage()
    return result
  },
  close() {
    sqlite?.close()
    return { busy: 0 }
  },
}
function answer(request) {
  try {
    return steps[request.step](request)
  } catch (error) {
    if (error.code === 'SQLITE_BUSY') return { busy: 1 }
    return { error: error.message }
  }
}
self.onmessage = ({ data }) => self.postMessage(answer(data))
`
