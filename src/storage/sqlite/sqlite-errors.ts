import { SQLiteError } from 'bun:sqlite'
import { type ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'

/** What keeps a database from its work, by the beginning of SQLite's code; not: a constraint or a wrong statement. */
const outages: Readonly<Record<string, string>> = {
  BUSY: 'is locked by another process',
  LOCKED: 'is locked by another process',
  NOMEM: 'has no memory left',
  READONLY: 'may only be read',
  IOERR: 'cannot be read or written',
  CORRUPT: 'is damaged',
  FULL: 'has no room left',
  CANTOPEN: 'cannot be opened',
  PROTOCOL: 'is locked by another process',
  NOTADB: 'is damaged',
}

/** The 503 that stands for a database that is locked, full or broken; any other error as it is. */
export function toOutage(error: unknown): unknown {
  return outageWords(error) === undefined ? error : databaseUnavailable(error)
}

/** The 503 of a database that does not do its work. */
export function databaseUnavailable(cause: unknown): ApiError {
  return serviceUnavailable('The database of the gateway is not available at the moment.', cause)
}

/** The files of the database do not lie any more where they were opened. */
export class FileReplacedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'Misplaced'
  }
}

/** What is wrong with the database, in a sentence that names no file; undefined where it is something else. */
export function outageSentence(error: unknown): string | undefined {
  const words = outageWords(error)
  return words && `The database ${words}.`
}

/** A read, as a promise; a database that cannot answer rejects it with 503. */
export async function read<T>(work: () => T): Promise<T> {
  try {
    return work()
  } catch (error) {
    throw toOutage(error)
  }
}

/** Another process has the lock, which may last for a moment only. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && error.code?.startsWith('SQLITE_BUSY') === true
}

function outageWords(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof FileReplacedError) return 'is not where it was'
  if (!(error instanceof SQLiteError)) return outageWords(error.cause)
  const name = Object.keys(outages).find((name) => error.code?.startsWith(`SQLITE_${name}`))
  return name === undefined ? undefined : outages[name]
}
