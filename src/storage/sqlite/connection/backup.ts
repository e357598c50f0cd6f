import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'

/** Why no backup was made, in a sentence. */
export class BackupError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'BackupError'
  }
}

/**
 * Copies the database, as it is at one moment, into a file that only its owner may read; others go on writing
 * meanwhile. The file is there when all of it is on disk, and not before. `part` hears where the copy grows.
 */
export async function backUp(
  database: string,
  target: string,
  overwrite: boolean,
  part = `${target}.${process.pid}.part`,
): Promise<void> {
  if (!overwrite && existsSync(target)) throw exists(target)
  try {
    closeSync(openSync(part, 'wx', 0o600))
    await copyAside(database, part)
    sync(part)
    if (overwrite) renameSync(part, target)
    else moveToNew(part, target)
    if (process.platform !== 'win32') sync(dirname(target))
  } catch (error) {
    throw error instanceof BackupError ? error : new BackupError(`No backup was made: ${wordsOf(error)}.`)
  } finally {
    rmSync(part, { force: true })
  }
}

function exists(target: string): BackupError {
  return new BackupError(`${target} exists. Name another file, or replace this one with --overwrite.`)
}

/** SQLite copies without a pause: in a thread of its own, that whoever waits can say how far it is. */
function copyAside(database: string, target: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(copying, { eval: true, workerData: { database, target } })
    thread.once('error', reject)
    thread.once('exit', () => resolve())
  })
}

/** As text, because one executable has no files from which a thread could be started. */
const copying = `
const { workerData } = require('node:worker_threads')
const { Database } = require('bun:sqlite')
const reader = new Database(workerData.database, { readonly: true })
reader.run('PRAGMA busy_timeout = 5000')
reader.prepare('VACUUM INTO ?').run(workerData.target)
reader.close()
`

function sync(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}

/** A link is refused where a file has come meanwhile; some file systems have none. */
function moveToNew(part: string, target: string): void {
  try {
    linkSync(part, target)
  } catch {
    if (existsSync(target)) throw exists(target)
    renameSync(part, target)
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
}
