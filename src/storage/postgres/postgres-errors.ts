import { ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import { platformFailure } from '../../lib/platform-failure.ts'

const outOfSpace = 'is out of disk space'
const denied = 'denies its user a permission'

/**
 * Problems of the server, by prefix of the SQLSTATE. Constraints and invalid statements are not among them. The more
 * specific prefix comes first.
 */
const outages: readonly (readonly [prefix: string, problem: string])[] = [
  ['53100', outOfSpace],
  ['53300', 'has too many connections'],
  ['53', 'is out of resources'],
  ['25006', 'is read-only'],
  ['25P03', 'has ended a transaction that paused for too long'],
  ['28', 'rejected the user name or the password'],
  ['3D000', 'does not exist'],
  ['42501', denied],
  ['3F000', denied],
  ['40', 'is locked by another process'],
  ['55P03', 'is locked by another process'],
  ['57', 'is shutting down or starting up'],
  ['08', 'cannot be reached'],
  ['58', 'cannot be read or written'],
  ['XX', 'is damaged'],
]

/** The 503 of an unavailable database. */
export function databaseUnavailable(cause: unknown): ApiError {
  return serviceUnavailable('The database of the gateway is unavailable. Try again later.', cause)
}

/** Maps the error of a server that is stopped, full or unreachable to the 503; returns any other error unchanged. */
export function toOutage(error: unknown): unknown {
  if (error instanceof ApiError) return error
  return outageOf(error) === undefined ? error : databaseUnavailable(error)
}

/** Describes the problem of the database without naming it; undefined for any other error. */
export function outageMessage(error: unknown): string | undefined {
  const problem = outageOf(error)
  return problem && `The database ${problem}.`
}

/** The same with the cause of a lost connection, as a clause for the operator. */
export function outageReason(error: unknown, subject = 'it'): string | undefined {
  const problem = outageOf(error)
  if (problem === undefined) return undefined
  const failure = connectionFailure(error) ?? denialOf(error)
  return `${subject} ${problem}${failure === undefined ? '' : `: ${failure}`}`
}

/** Whether the server has no space left on its disk; the error may be the cause of this one. */
export function isOutOfSpace(error: unknown): boolean {
  return outageOf(error) === outOfSpace
}

/** Whether the user lacks a right, or may use no schema at all; the error may be the cause of this one. */
export function isDenied(error: unknown): boolean {
  return outageOf(error) === denied
}

/** The words of the server name the object, such as `permission denied for table usage`. */
function denialOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !isDenied(error)) return undefined
  return sqlStateOf(error) === undefined ? denialOf(error.cause) : error.message
}

function connectionFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const state = sqlStateOf(error)
  if (state !== undefined && !state.startsWith('08')) return undefined
  return platformFailure(error) ?? refusalOf(error, state) ?? connectionFailure(error.cause)
}

/** Why a pooler or the driver makes no connection, by their words: neither has a code of its own for it. */
const refusals: readonly (readonly [words: RegExp, reason: string])[] = [
  [/^(no such database|database .* does not exist)/, 'the pooler knows no database of this name'],
  [/authentication failed/, 'the pooler rejected the user name or the password'],
  [/startup parameter/, 'the pooler does not accept the options of the URL'],
  [/statement pooling mode/, 'the pooler has the mode statement; use transaction or session'],
  [/no more connections allowed/, 'the pooler has too many connections'],
  [/not support SSL/, 'the server does not support TLS'],
  [/terminated unexpectedly/, 'the connection was closed'],
]

/** The words themselves may have the name of the user. */
function refusalOf({ message }: Error, state: string | undefined): string | undefined {
  const reason = refusals.find(([words]) => words.test(message))?.[1]
  return reason ?? (state && `the connection was refused (${state})`)
}

/** Whether the server answered with an error, and rolled back the transaction; the connection is still open. */
export function isRejected(error: unknown): boolean {
  return sqlStateOf(error) !== undefined && !isFatal(error)
}

/**
 * Whether the same transaction may succeed when it is repeated: a deadlock, a lock timeout, a serialization failure, or a
 * process that was suspended in the middle of it for so long that the server has rolled it back.
 */
export function isRepeatable(error: unknown): boolean {
  const state = sqlStateOf(error) ?? ''
  return state.startsWith('40') || state === '55P03' || state === '25P03'
}

/**
 * Whether the server rejected the transaction because of others, which may end in a moment; the error may be the cause of
 * this one. A server without a free connection has not begun the transaction.
 */
export function isBusy(error: unknown): boolean {
  if (isRepeatable(error) || sqlStateOf(error) === '53300') return true
  return error instanceof Error && isBusy(error.cause)
}

/** Whether the server ended a statement because of its timeout. */
export function isCanceled(error: unknown): boolean {
  return sqlStateOf(error) === '57014'
}

/** Whether a connection was closed by the other side, so that another one may work. */
export function isConnectionLost(error: unknown): boolean {
  return (
    error instanceof Error &&
    (isFatal(error) || /terminated|ECONNRESET|EPIPE|not queryable/.test(error.message))
  )
}

function outageOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof ApiError || error.name === 'UnknownOutcomeError' || error.name === 'NotCommittedError')
    return outageOf(error.cause) ?? 'cannot be reached'
  const state = sqlStateOf(error)
  if (state !== undefined) return outages.find(([prefix]) => state.startsWith(prefix))?.[1]
  return isConnectionError(error) ? 'cannot be reached' : undefined
}

/** The SQLSTATE of an error of the server; those of the socket have a code without a severity. */
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function isFatal(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && error.severity !== 'ERROR'
}

/** The driver reports a lost connection by a system code, or only by a message. */
function isConnectionError(error: Error): boolean {
  if ('code' in error && typeof error.code === 'string' && /^(E[A-Z]+|[A-Z_]+CERT[A-Z_]*)$/.test(error.code))
    return true
  return /connection|timeout|socket|not queryable|certificate|SASL|SSL/i.test(error.message)
}
