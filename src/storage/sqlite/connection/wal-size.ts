import { statSync } from 'node:fs'
import { causeOf, type Log } from '../../../lib/log.ts'
import { repeatEvery } from '../../../lib/time.ts'
import type { Writer } from '../writer/writer.ts'
import { checkpointInThread } from './checkpoint-thread.ts'
import { checkpointPages, type Database, inMemory, maxWalBytes } from './database.ts'

const defaultIntervalMs = 1000

/**
 * Keeps the file of the write-ahead log small until it is stopped. A long read (a copy, a report) makes it grow;
 * afterwards the log is checkpointed in a thread, and its file is emptied when nothing was written for an interval.
 */
export function limitWalSize(
  database: Database,
  writer: Pick<Writer, 'stats'>,
  log: Log,
  intervalMs = defaultIntervalMs,
): { stop(): void } {
  const { sqlite } = database
  const { filename: file } = sqlite
  if (file === inMemory) return { stop() {} }
  const isIdle = createIdleCheck(writer)
  let automatic = true
  let stopped = false

  /** An automatic checkpoint runs inside a commit; with a long log it would block every request. */
  function setAutomatic(enabled: boolean): void {
    if (enabled === automatic || stopped) return
    sqlite.run(`PRAGMA wal_autocheckpoint = ${enabled ? checkpointPages : 0}`)
    automatic = enabled
  }

  async function shrink(): Promise<void> {
    const idle = isIdle()
    if (sizeOf(`${file}-wal`) <= maxWalBytes) return setAutomatic(true)
    setAutomatic(false)
    const result = await checkpointInThread(file, idle)
    setAutomatic(result.log - result.checkpointed <= checkpointPages)
  }

  function failed(error: unknown): void {
    setAutomatic(true)
    log.warn('The write-ahead log of the database could not be truncated.', { cause: causeOf(error) })
  }

  const repeating = repeatEvery(intervalMs, shrink, failed)
  return {
    stop() {
      stopped = true
      repeating.stop()
    },
  }
}

/** Returns a function that returns whether no write waits, and none was committed since the previous call. */
function createIdleCheck(writer: Pick<Writer, 'stats'>): () => boolean {
  let before = -1
  return () => {
    const { waiting, commits } = writer.stats()
    const idle = waiting === 0 && commits === before
    before = commits
    return idle
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
