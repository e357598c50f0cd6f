import { SQLiteError } from 'bun:sqlite'
import { serviceUnavailable } from '../lib/errors.ts'

/** Locked, full, unreadable, broken; not: a constraint or a wrong statement. */
const outages = [
  'BUSY',
  'LOCKED',
  'NOMEM',
  'READONLY',
  'IOERR',
  'CORRUPT',
  'FULL',
  'CANTOPEN',
  'PROTOCOL',
  'NOTADB',
]

/** The 503 that stands for a database that is locked, full or broken; any other error as it is. */
export function toOutage(error: unknown): unknown {
  return isOutage(error) ? databaseGone(error) : error
}

/** The 503 of a database that does not do its work. */
export function databaseGone(cause: unknown): Error {
  return serviceUnavailable('The database of the gateway is not available at the moment.', cause)
}

/** A read, as a promise; a database that cannot answer rejects it with 503. */
export async function read<T>(work: () => T): Promise<T> {
  try {
    return work()
  } catch (error) {
    throw toOutage(error)
  }
}

function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (!(error instanceof SQLiteError)) return isOutage(error.cause)
  return outages.some((name) => error.code?.startsWith(`SQLITE_${name}`))
}
