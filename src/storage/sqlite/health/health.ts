import { type Stats, statSync } from 'node:fs'
import type { ApiError } from '../../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../../lib/log.ts'
import { throttle } from '../../../lib/time.ts'
import { type Database, inMemory } from '../connection/database.ts'
import { databaseUnavailable, FileReplacedError } from '../sqlite-errors.ts'

/**
 * Whether the database can be relied on. When a transaction fails, all that needs one is refused at once, and one of
 * its own is tried until it succeeds.
 */
export type Health = {
  /** The 503 while the database does not do its work; undefined where nothing speaks against it. */
  refusal(): ApiError | undefined
  /** A transaction was committed. */
  wrote(): void
  /** A transaction failed as a whole. */
  failed(cause: unknown): void
  /** Milliseconds since something was written. */
  age(): number
  /** Tries a transaction now. */
  retry(): void
  /** Tries a last time where something is wrong, and then no more. */
  close(): void
}

/** Milliseconds between two tries: a database that is back is used again after at most so long. */
const pause = 250
/** Milliseconds for which files that lay in their place are taken to lie there still: each look asks the system. */
const longestTrust = 50

export function createHealth(database: Database, log: Log): Health {
  const { checkPlace, tryWrite } = prepareChecks(database)
  let writtenAt: number | undefined
  let outage: ApiError | undefined
  let timer: Timer | undefined
  const look = throttle(longestTrust, () => attempt(checkPlace))

  function wrote(): void {
    writtenAt = performance.now()
    if (outage) log.info('The database is available again.')
    outage = undefined
    look()
  }

  function failed(cause: unknown): void {
    // A start that comes to nothing says so itself.
    if (!outage && writtenAt !== undefined)
      log.error('The database is not available: calls are refused.', { cause: causeOf(cause) })
    // Of a failure that comes alone, such as a row without room, hardly anybody else is to hear.
    timer ??= setTimeout(retry, outage ? pause : 0).unref()
    outage = databaseUnavailable(cause)
  }

  function attempt(check: () => void): void {
    try {
      check()
    } catch (error) {
      failed(error)
    }
  }

  function retry(): void {
    clearTimeout(timer)
    timer = undefined
    attempt(() => tryWrite(wrote))
  }

  function refusal(): ApiError | undefined {
    if (!outage) look()
    return outage
  }

  function close(): void {
    if (outage) retry()
    clearTimeout(timer)
  }

  return { refusal, wrote, failed, age: () => performance.now() - (writtenAt ?? 0), retry, close }
}

function prepareChecks(database: Database) {
  const { sqlite } = database
  const checkPlace = sqlite.filename === inMemory ? () => {} : watchFileIdentity(sqlite.filename)
  const probe = prepareWriteProbe(database)
  function tryWrite(passed: () => void): void {
    checkPlace()
    // Pages that were read while the file was damaged are not to be believed.
    sqlite.run('PRAGMA shrink_memory')
    sqlite.transaction(probe).immediate()
    passed()
  }
  return { checkPlace, tryWrite }
}

/**
 * Looks where the files of an open database lie, and gives a check that throws once they lie there no more: what is
 * written then lands in files that no later start reads.
 */
export function watchFileIdentity(file: string): () => void {
  const checks = [file, `${file}-wal`].map(watchFile)
  const check = () => checks.forEach((checkFile) => checkFile())
  check()
  return check
}

/** A look now and then costs little: `fs.watch` would wake up at every commit. */
function watchFile(file: string): () => void {
  let first: Stats | undefined
  return () => {
    const now = statSync(file, { throwIfNoEntry: false })
    // The log may be made by the first write only.
    first ??= now
    if (first === undefined || same(first, now)) return
    throw new FileReplacedError(`${file} ${now === undefined ? 'is gone' : 'is another file now'}.`)
  }
}

function same(first: Stats, now: Stats | undefined): boolean {
  return now !== undefined && now.ino === first.ino && now.dev === first.dev
}

/** In bytes: a database that has no room for so much is full. */
const room = 64 * 1024

/**
 * Part of a transaction that proves that the database takes writes: a row of some size, made and taken away again. It
 * stands among the keys because those belong to nobody else; one without an id opens nothing.
 */
export function prepareWriteProbe({ sqlite }: Database): () => void {
  const insert = sqlite.prepare(
    'INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at) ' +
      `VALUES ('', '', '', zeroblob(${room}), '', 0)`,
  )
  const remove = sqlite.prepare("DELETE FROM api_keys WHERE public_id = ''")
  return () => {
    insert.run()
    remove.run()
  }
}
