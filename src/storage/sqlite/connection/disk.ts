import { closeSync, fdatasync, fdatasyncSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import type * as fs from 'node:fs'
import { dirname } from 'node:path'
import { inMemory } from './database.ts'

/** Makes commits durable. */
export type Disk = {
  /** Syncs all earlier commits to the disk, and calls back with undefined or with the failure. */
  sync(done: (failure: unknown) => void): void
  /** Does the same synchronously; throws. */
  syncNow(): void
  /**
   * Makes the log whole after a sync has failed; throws while that is impossible. Until then every sync fails: the kernel
   * reports a page that it could not write only once, and a later sync would succeed over the hole in the log, at which a
   * start after a power cut would stop reading. The caller holds the write lock, so that the log does not change.
   */
  fix(): void
  close(): void
}

/** The system calls of a disk; tests let them fail. */
export type SystemCalls = Pick<typeof fs, 'fdatasync' | 'fdatasyncSync' | 'writeSync'>

/**
 * Returns the disk of the write-ahead log. Commits do not sync by themselves (`synchronous = NORMAL`), because SQLite
 * would block every other request meanwhile; syncing the log after a commit gives the durability of `FULL`.
 */
export function openDisk(file: string, calls: SystemCalls = { fdatasync, fdatasyncSync, writeSync }): Disk {
  if (file === inMemory) return noDisk
  let descriptor: number | undefined
  let failure: unknown

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
        if (failure !== undefined) throw failure
        calls.fdatasync(logFile(), (error) => done((failure = error ?? undefined)))
      } catch (error) {
        done(error)
      }
    },
    syncNow() {
      if (failure !== undefined) throw failure
      calls.fdatasyncSync(logFile())
    },
    fix() {
      if (failure === undefined) return
      rewrite(logFile(), calls)
      calls.fdatasyncSync(logFile())
      failure = undefined
    },
    close() {
      if (descriptor !== undefined) closeSync(descriptor)
      descriptor = undefined
    },
  }
}

/** Writes the bytes of the file to their places again, from memory, so that the next sync covers all of them. */
function rewrite(descriptor: number, calls: SystemCalls): void {
  const buffer = Buffer.allocUnsafe(1024 * 1024)
  let position = 0
  for (;;) {
    const length = readSync(descriptor, buffer, 0, buffer.length, position)
    if (length === 0) return
    position += calls.writeSync(descriptor, buffer, 0, length, position)
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
const noDisk: Disk = {
  sync: (done) => queueMicrotask(() => done(undefined)),
  syncNow() {},
  fix() {},
  close() {},
}
