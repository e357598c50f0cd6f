import { withTimeout } from '../../../lib/time.ts'

/** Milliseconds: gigabytes are carried over in less. */
const checkpointTimeout = 5 * 60_000

/** How many pages of the write-ahead log there are, and how many of them the database has. */
export type CheckpointResult = { readonly log: number; readonly checkpointed: number }

/**
 * Carries the write-ahead log of this database over in a thread of its own, because a long log holds up its thread for
 * seconds; rejects where that fails. Writers go on meanwhile. `truncate` also empties the file, for which writers wait.
 */
export function checkpointInThread(file: string, truncate: boolean): Promise<CheckpointResult> {
  const url = URL.createObjectURL(new Blob([programFor(file, truncate)], { type: 'text/javascript' }))
  const { promise, resolve, reject } = Promise.withResolvers<CheckpointResult>()
  const worker = new Worker(url, { smol: true })
  worker.addEventListener('message', ({ data }: MessageEvent<Answer>) =>
    'error' in data ? reject(new Error(data.error)) : resolve(data),
  )
  worker.addEventListener('error', ({ message }) => reject(new Error(message)))
  // A process that ends does not wait for it: SQLite repeats what is not carried over.
  worker.unref()
  return withTimeout(promise, checkpointTimeout, timedOut).finally(() => {
    worker.terminate()
    URL.revokeObjectURL(url)
  })
}

function timedOut(): Error {
  return new Error('The checkpoint has not ended in time.')
}

type Answer = CheckpointResult | { readonly error: string }

/**
 * As text, so that an executable holds it without a file of its own. The first checkpoint may take seconds, the second
 * one takes what was written during it: so the last one, which keeps writers out, has hardly anything left to do.
 */
function programFor(file: string, truncate: boolean): string {
  return `
import { Database } from 'bun:sqlite'
function checkpointAll() {
  const sqlite = new Database(${JSON.stringify(file)}, { readwrite: true, create: false })
  try {
    sqlite.run('PRAGMA busy_timeout = 0')
    const checkpoint = (mode) => sqlite.prepare('PRAGMA wal_checkpoint(' + mode + ')').get()
    checkpoint('PASSIVE')
    const { log, checkpointed } = checkpoint('PASSIVE')
    if (${truncate} && log === checkpointed) checkpoint('TRUNCATE')
    return { log, checkpointed }
  } finally {
    sqlite.close()
  }
}
try {
  self.postMessage(checkpointAll())
} catch (error) {
  self.postMessage({ error: String(error) })
}
`
}
