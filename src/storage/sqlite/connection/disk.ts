import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { inMemory } from './database.ts'

/** What keeps commits through a power cut. */
export type Disk = {
  /** Brings all that was committed before to the disk, and calls back then, or with what went wrong. */
  sync(done: (failure: unknown) => void): void
  /** The same at once; throws. */
  syncNow(): void
  close(): void
}

/**
 * The write-ahead log of a database, whose commits do not wait for the disk themselves (`synchronous = NORMAL`): SQLite
 * would hold up every other request in the meantime. To sync the log behind a commit is what it would do for `FULL`.
 */
export function openDisk(file: string): Disk {
  if (file === inMemory) return noDisk
  let descriptor: number | undefined

  /** SQLite makes the log with its first write, and keeps it as long as the database is open. */
  function log(): number {
    if (descriptor === undefined) {
      descriptor = openSync(`${file}-wal`, 'r+')
      syncFolder(dirname(file))
    }
    return descriptor
  }

  return {
    sync(done) {
      try {
        fdatasync(log(), (error) => done(error ?? undefined))
      } catch (error) {
        done(error)
      }
    },
    syncNow: () => fdatasyncSync(log()),
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
    },
  }
}

/** The name of a new file is on disk only when its folder is. Windows has no such thing. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** What is only in memory is as safe as it will ever be. */
const noDisk: Disk = { sync: (done) => queueMicrotask(() => done(undefined)), syncNow() {}, close() {} }
