import type { ApiError } from '../../../lib/errors/errors.ts'
import { causeOf, type Log } from '../../../lib/log.ts'
import { throttle } from '../../../lib/time.ts'
import { type Database, inMemory } from '../connection/database.ts'
import { watchFileIdentity } from '../file-identity.ts'
import { databaseUnavailable } from '../sqlite-errors.ts'
import { prepareWriteProbe } from '../write-probe.ts'

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
