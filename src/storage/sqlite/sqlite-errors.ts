import { type ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import { platformFailure } from '../../lib/platform-failure.ts'

/** Problems of the database file, by prefix of SQLite's code; constraints and invalid statements are not among them. */
const outages: Readonly<Record<string, string>> = {
  BUSY: 'is locked by another process',
  LOCKED: 'is locked by another process',
  NOMEM: 'is out of memory',
  READONLY: 'is read-only',
  IOERR: 'cannot be read or written',
  CORRUPT: 'is damaged',
  FULL: 'is out of disk space',
  CANTOPEN: 'is missing, or its folder cannot be read',
  PROTOCOL: 'is locked by another process',
  NOTADB: 'is damaged, or not a database of SQLite',
}

/** Maps the error of a database that is locked, full or damaged to the 503; returns any other error unchanged. */
export function toOutage(error: unknown): unknown {
  return outageOf(error) === undefined ? error : databaseUnavailable(error)
}

/** The 503 of an unavailable database. */
export function databaseUnavailable(cause: unknown): ApiError {
  return serviceUnavailable('The database of the gateway is unavailable. Try again later.', cause)
}

/** The files of the open database were deleted or replaced. */
export class FileReplacedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FileReplacedError'
  }
}

/** The files of the open database cannot be looked at; the cause says why. */
export class FileUnreadableError extends Error {
  constructor(file: string, cause: unknown) {
    super(`${file} cannot be read.`, { cause })
    this.name = 'FileUnreadableError'
  }
}

/** Describes the problem of the database without naming a file; undefined for any other error. */
export function outageMessage(error: unknown): string | undefined {
  const problem = outageOf(error)
  return problem && `The database ${problem}.`
}

/** Why a file cannot be opened, locked or copied, as a clause: that of SQLite or of the system, else the error's own. */
export function reasonOf(error: unknown, subject = 'it'): string {
  const problem = outageOf(error)
  const failure = error instanceof FileUnreadableError ? platformFailure(error.cause) : undefined
  if (problem !== undefined) return `${subject} ${problem}${failure === undefined ? '' : `: ${failure}`}`
  return platformFailure(error) ?? (error instanceof Error ? error.message.replace(/\.$/, '') : String(error))
}

/** Runs a read as a promise; rejects with 503 if the database is unavailable. */
export async function read<T>(work: () => T): Promise<T> {
  try {
    return work()
  } catch (error) {
    throw toOutage(error)
  }
}

/** Whether another process holds the lock, which may be released in a moment; the error may be the cause of this one. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  if (code !== undefined) return code.startsWith('SQLITE_BUSY')
  return error instanceof Error && isBusy(error.cause)
}

/** The code of an error of SQLite, which is a plain error if a thread has thrown it. */
function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}

function outageOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof FileReplacedError) return 'was moved or replaced'
  if (error instanceof FileUnreadableError) return outages.IOERR
  const code = codeOf(error)
  if (code === undefined) return outageOf(error.cause)
  const name = Object.keys(outages).find((name) => code.startsWith(`SQLITE_${name}`))
  return name === undefined ? undefined : outages[name]
}
