import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { inMemory } from './database.ts'

/** Makes commits durable. */
export type Disk = {
  /** Syncs all earlier commits to the disk, and calls back with undefined or with the failure. */
  sync(done: (failure: unknown) => void): void
  /** Does the same synchronously; throws. */
  syncNow(): void
  close(): void
}

/**
 * Returns the disk of the write-ahead log. Commits do not sync by themselves (`synchronous = NORMAL`), because SQLite
 * would block every other request meanwhile; syncing the log after a commit gives the durability of `FULL`.
 */
export function openDisk(file: string): Disk {
  if (file === inMemory) return noDisk
  let descriptor: number | undefined

  /** SQLite creates the log with its first write, and keeps it while the database is open. */
  function logFile(): number {
    if (descriptor === undefined) {
      descriptor = openSync(`${file}-wal`, 'r+')
      syncFolder(dirname(file))
    }
    return descriptor
  }

  return {
    sync(done) {
      try {
        fdatasync(logFile(), (error) => done(error ?? undefined))
      } catch (error) {
        done(error)
      }
    },
    syncNow: () => fdatasyncSync(logFile()),
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
    },
  }
}

/** Makes the name of a new file durable. Windows cannot sync a folder, and needs none of it. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** A database in memory has nothing to sync. */
const noDisk: Disk = { sync: (done) => queueMicrotask(() => done(undefined)), syncNow() {}, close() {} }
