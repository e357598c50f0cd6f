import { withTimeout } from '../../../lib/time.ts'

/** A checkpoint of gigabytes takes less. */
const checkpointTimeoutMs = 5 * 60_000

/** The pages in the write-ahead log, and those of them that are copied to the database. */
export type CheckpointResult = { readonly log: number; readonly checkpointed: number }

/**
 * Checkpoints the write-ahead log of this database in a thread, because a long log blocks the thread for seconds; rejects
 * if that fails. Writers continue meanwhile. `truncate` also empties the file, for which writers wait.
 */
export function checkpointInThread(file: string, truncate: boolean): Promise<CheckpointResult> {
  const url = URL.createObjectURL(new Blob([checkpointProgram(file, truncate)], { type: 'text/javascript' }))
  const { promise, resolve, reject } = Promise.withResolvers<CheckpointResult>()
  const worker = new Worker(url, { smol: true })
  worker.addEventListener('message', ({ data }: MessageEvent<ThreadMessage>) =>
    'error' in data ? reject(new Error(data.error)) : resolve(data),
  )
  worker.addEventListener('error', ({ message }) => reject(new Error(message)))
  // The process may exit during a checkpoint: SQLite repeats it.
  worker.unref()
  return withTimeout(promise, checkpointTimeoutMs, timedOut).finally(() => {
    worker.terminate()
    URL.revokeObjectURL(url)
  })
}

function timedOut(): Error {
  return new Error('The checkpoint timed out.')
}

type ThreadMessage = CheckpointResult | { readonly error: string }

/**
 * Program text, because a compiled executable has no file to start the thread from. The first checkpoint may take
 * seconds, the second one copies what was written during it, and so the last one, which blocks writers, is short.
 */
function checkpointProgram(file: string, truncate: boolean): string {
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
