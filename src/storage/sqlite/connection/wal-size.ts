import { statSync } from 'node:fs'
import { causeOf, type Log } from '../../../lib/log.ts'
import { repeatEvery } from '../../../lib/time.ts'
import type { Writer } from '../writer/writer.ts'
import { checkpointInThread } from './checkpoint-thread.ts'
import { checkpointPages, type Database, inMemory, maxWalBytes } from './database.ts'

/** Milliseconds between two looks at the size of the log. */
const defaultInterval = 1000

/**
 * Keeps the file of the write-ahead log small until it is stopped. A reader that stays open for long (a copy, a report)
 * makes it grow; once that one has gone, the log is carried over beside the requests, and its file is emptied as soon as
 * nothing was written for an interval.
 */
export function keepWalSmall(
  database: Database,
  writer: Pick<Writer, 'figures'>,
  log: Log,
  interval = defaultInterval,
): { stop(): void } {
  const { sqlite } = database
  const { filename: file } = sqlite
  if (file === inMemory) return { stop() {} }
  const isIdle = createIdleCheck(writer)
  let automatic = true
  let stopped = false

  /** Each commit behind so many pages carries the log over; for a long log that would hold up every request. */
  function setAutomatic(wanted: boolean): void {
    if (wanted === automatic || stopped) return
    sqlite.run(`PRAGMA wal_autocheckpoint = ${wanted ? checkpointPages : 0}`)
    automatic = wanted
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
    log.warn('The write-ahead log of the database could not be shortened.', { cause: causeOf(error) })
  }

  const repeating = repeatEvery(interval, shrink, failed)
  return {
    stop() {
      stopped = true
      repeating.stop()
    },
  }
}

/** Returns whether nothing waits to be written, and nothing was committed since the check before. */
function createIdleCheck(writer: Pick<Writer, 'figures'>): () => boolean {
  let before = -1
  return () => {
    const { waiting, commits } = writer.figures()
    const idle = waiting === 0 && commits === before
    before = commits
    return idle
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
