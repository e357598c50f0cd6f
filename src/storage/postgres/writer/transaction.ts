import { randomUUID } from 'node:crypto'
import { type Connection, type Connections, type Query, serverTime } from '../connection/connections.ts'
import { schemaLock } from '../connection/migrate.ts'
import { isConnectionLost, isRejected, isRepeatable, toOutage } from '../postgres-errors.ts'
import { findOutcome } from './outcome.ts'

/**
 * Runs work in a transaction, and resolves with its value when that is committed. Repeats the work after a deadlock,
 * and after the loss of the connection before the commit. If the connection is lost during the commit, finds out
 * whether it was committed; rejects with 503 if it was not.
 */
export type Transact = <T>(work: (query: Query) => Promise<T>) => Promise<T>

/**
 * The statement that opens every transaction: no lock is waited for longer than the statement itself, and a process that
 * is suspended in the middle of a transaction does not keep the others waiting for that long.
 */
export const begin =
  "BEGIN; SET LOCAL lock_timeout = '2s'; SET LOCAL idle_in_transaction_session_timeout = '1500ms'; " +
  `SELECT pg_advisory_xact_lock_shared(${schemaLock})`

const attempts = 3

/** See `Transact`. */
export function createTransact(connections: Connections): Transact {
  return async (work) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await transactOnce(connections, work)
      } catch (error) {
        const repeatable = isRepeatable(error) || error instanceof NotCommittedError
        if (attempt === attempts || !repeatable) throw toOutage(error)
      }
    }
  }
}

/** The connection was lost, and the transaction can never be committed. */
class NotCommittedError extends Error {
  constructor(cause: unknown) {
    super('The connection was lost before the transaction was committed.', { cause })
    this.name = 'NotCommittedError'
  }
}

type Committing<T> = { readonly id: string; readonly value: T }

async function transactOnce<T>(connections: Connections, work: (query: Query) => Promise<T>): Promise<T> {
  let begun = false
  let committing: Committing<T> | undefined
  try {
    return await connections.use(async (connection) => {
      begun = true
      const value = await runWork(connection, work)
      committing = { id: randomUUID(), value }
      await commit(connection, committing.id)
      return value
    })
  } catch (error) {
    if (committing === undefined)
      throw begun && isConnectionLost(error) ? new NotCommittedError(error) : error
    if (isRejected(error)) throw error
    const outcome = await findOutcome(connections, [committing.id])
    if (outcome === undefined) throw new NotCommittedError(error)
    return committing.value
  }
}

async function runWork<T>({ send }: Connection, work: (query: Query) => Promise<T>): Promise<T> {
  // Sent together with the first statement of the work, whose error is the one to report.
  const opened = send(begin)
  opened.catch(() => {})
  const value = await work(async (text, values, timeoutMs) => {
    const { rows } = await send<never>(text, values, timeoutMs)
    return rows
  })
  await opened
  return value
}

async function commit({ send }: Connection, id: string): Promise<void> {
  const recorded = send(recordTransaction, [id])
  recorded.catch(() => {})
  const { command } = await send('COMMIT')
  await recorded
  if (command !== 'COMMIT') throw new Error('The transaction was rolled back.')
}

const recordTransaction = `INSERT INTO transactions (id, results, created_at) VALUES ($1, '', ${serverTime})`
