import { type Stats, statSync } from 'node:fs'
import { type ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import type { Log } from '../../lib/log.ts'
import { throttle } from '../../lib/time.ts'
import { shareProbe } from '../common/shared-probe.ts'
import { type Database, inMemory } from './connection/database.ts'
import type { Disk } from './connection/disk.ts'
import {
  databaseUnavailable,
  FileReplacedError,
  FileUnreadableError,
  outageMessage,
  reasonOf,
} from './sqlite-errors.ts'
import type { Readiness } from '../ports/health.ts'

/**
 * Tracks whether the database works. After a transaction has failed, requests that need one are rejected at once, and a
 * probe is written until one succeeds.
 */
export type Health = {
  /** Returns the 503 while the database is unavailable; undefined while it works. */
  unavailableError(): ApiError | undefined
  /** Reports that a transaction was committed. */
  wrote(): void
  /** Reports that a whole transaction failed. */
  failed(cause: unknown): void
  /** Returns the milliseconds since the last commit. */
  age(): number
  /** Writes a probe now. */
  retry(): void
  /** Writes a last probe if the database is unavailable, and stops the retries. */
  close(): void
}

/** The time between two probes, and so the longest time until a database that is back is used again. */
const probeIntervalMs = 250
/** The time for which the result of a file check is trusted, because each check is a system call. */
const fileCheckIntervalMs = 50

/** See `Health`. */
export function createHealth(database: Database, log: Log, disk: Pick<Disk, 'fix'>): Health {
  const { checkFiles, tryWrite } = prepareChecks(database, disk)
  let writtenAt: number | undefined
  let outage: ApiError | undefined
  let timer: Timer | undefined
  const checkFilesSometimes = throttle(fileCheckIntervalMs, () => attempt(checkFiles))

  function wrote(): void {
    writtenAt = performance.now()
    if (outage) log.info('The database is available again.')
    outage = undefined
    checkFilesSometimes()
  }

  function failed(cause: unknown): void {
    // A start that fails reports the error itself.
    if (!outage && writtenAt !== undefined)
      log.error(unavailableMessage, { cause: reasonOf(cause, 'the database') })
    // The first probe runs at once: a single failure, such as a row that is too large, should affect few other requests.
    timer ??= setTimeout(retry, outage ? probeIntervalMs : 0).unref()
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

  function unavailableError(): ApiError | undefined {
    if (!outage) checkFilesSometimes()
    return outage
  }

  function close(): void {
    if (outage) retry()
    clearTimeout(timer)
  }

  return { unavailableError, wrote, failed, age: () => performance.now() - (writtenAt ?? 0), retry, close }
}

function prepareChecks(database: Database, disk: Pick<Disk, 'fix'>) {
  const { sqlite } = database
  const checkFiles = sqlite.filename === inMemory ? () => {} : watchFileIdentity(sqlite.filename)
  const probe = prepareWriteProbe(database)
  function tryWrite(succeeded: () => void): void {
    checkFiles()
    // Drops cached pages, which may have been read while the file was damaged.
    sqlite.run('PRAGMA shrink_memory')
    sqlite.transaction(() => (probe(), disk.fix())).immediate()
    succeeded()
  }
  return { checkFiles, tryWrite }
}

/**
 * Records the identity of the files of an open database, and returns a check that throws if they were deleted or
 * replaced: later writes would go to files that no later start reads.
 */
function watchFileIdentity(file: string): () => void {
  const checks = [file, `${file}-wal`].map(watchFile)
  const check = () => checks.forEach((checkFile) => checkFile())
  check()
  return check
}

/** Checks now and then, because `fs.watch` would wake up at every commit. */
function watchFile(file: string): () => void {
  let first: Stats | undefined
  return () => {
    const now = statsOf(file)
    // The first write may create the log.
    first ??= now
    if (first === undefined || isSameFile(first, now)) return
    throw new FileReplacedError(`${file} ${now === undefined ? 'was deleted' : 'was replaced'}.`)
  }
}

function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    throw new FileUnreadableError(file, error)
  }
}

function isSameFile(first: Stats, now: Stats | undefined): boolean {
  return now !== undefined && now.ino === first.ino && now.dev === first.dev
}

/** A database that cannot store this many bytes is full. */
const probeBytes = 64 * 1024

/**
 * Part of a transaction that proves that the database accepts writes: inserts a row of some size, and deletes it again.
 * The row is a key, because that table has no foreign keys; a key without an id authenticates no request.
 */
function prepareWriteProbe({ sqlite }: Database): () => void {
  const insert = sqlite.prepare(
    'INSERT INTO api_keys (public_id, organization_id, name, secret_hash, last4, created_at) ' +
      `VALUES ('', '', '', zeroblob(${probeBytes}), '', 0)`,
  )
  const remove = sqlite.prepare("DELETE FROM api_keys WHERE public_id = ''")
  return () => {
    insert.run()
    remove.run()
  }
}

const unavailableMessage = 'The database is unavailable; requests are rejected.'

/**
 * The time for which a commit proves that the database works, and for which it proves that no lock is held: under load,
 * the usage of requests is committed more often.
 */
const commitTrustMs = 1000
export const lockTrustMs = 100
type ProbeWriter = { write(probe: () => void): Promise<void> }

/** See `Readiness`. */
export function createReadiness(database: Database, writer: ProbeWriter, health: Health): Readiness {
  const isLocked = prepareLockCheck(database)
  const writeProbe = prepareWriteProbe(database)

  function ready(): Promise<void> | undefined {
    const unavailable = health.unavailableError()
    if (unavailable) throw unavailable
    const age = health.age()
    if (age < lockTrustMs) return undefined
    return age > commitTrustMs || isLocked() ? writer.write(writeProbe) : undefined
  }

  async function examine(): Promise<void> {
    try {
      if (health.unavailableError()) health.retry()
      await writer.write(writeProbe)
    } catch (error) {
      const message = outageMessage(error)
      throw message === undefined ? error : serviceUnavailable(message, error)
    }
  }

  return { ready, probe: shareProbe(examine, () => health.unavailableError() === undefined) }
}

/** Takes the write lock and releases it, without touching the disk. */
function prepareLockCheck({ sqlite }: Database): () => boolean {
  const begin = sqlite.prepare('BEGIN IMMEDIATE')
  const end = sqlite.prepare('ROLLBACK')
  return () => {
    try {
      begin.run()
    } catch {
      return true
    }
    end.run()
    return false
  }
}
