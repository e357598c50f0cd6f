import { type Connection, type Connections, type Query, serverTime } from '../connection/connections.ts'

/** The time to look for the outcome of a transaction, and between two attempts. */
const searchTimeoutMs = 15_000
const searchIntervalMs = 250

/** The results of the statements of a committed transaction, as JSON, by their ids. */
export type Outcome = ReadonlyMap<string, string>

type SearchOptions = {
  readonly timeoutMs?: number
  /** Whether to end the search. */
  readonly isStopped?: () => boolean
  /** Called after each attempt to reach the database that failed. */
  readonly onUnreachable?: (cause: unknown) => void
}

/** Neither an answer nor a rejection: the database could not be reached within the deadline. */
export class UnknownOutcomeError extends Error {
  constructor(cause: unknown) {
    super('The outcome of a transaction is unknown, because the database cannot be reached.', { cause })
    this.name = 'UnknownOutcomeError'
  }
}

/**
 * Finds out whether a transaction was committed whose connection was lost: resolves with its results, or with undefined
 * if it was not and can never be. Rejects with `UnknownOutcomeError` after a deadline.
 */
export async function findOutcome(
  connections: Connections,
  ids: readonly string[],
  { timeoutMs = searchTimeoutMs, isStopped = () => false, onUnreachable }: SearchOptions = {},
): Promise<Outcome | undefined> {
  for (const deadline = performance.now() + timeoutMs; ;) {
    try {
      return await connections.use((connection) => readOutcome(connection, ids))
    } catch (error) {
      onUnreachable?.(error)
      if (performance.now() > deadline || isStopped()) throw new UnknownOutcomeError(error)
      await Bun.sleep(searchIntervalMs)
    }
  }
}

/**
 * Inserts the ids that the transaction inserts too. If it is still running, the insert waits for its end. If the insert
 * succeeds, the transaction was not committed, and the unique key keeps it from being committed later.
 */
async function readOutcome({ send }: Connection, ids: readonly string[]): Promise<Outcome | undefined> {
  const { rows: inserted } = await send(
    `INSERT INTO transactions (id, results, created_at) SELECT unnest($1::text[]), '', ${serverTime} ` +
      'ON CONFLICT DO NOTHING RETURNING id',
    [ids],
  )
  if (inserted.length > 0) return undefined
  const { rows } = await send<{ readonly id: string; readonly results: string }>(
    'SELECT id, results FROM transactions WHERE id = ANY($1)',
    [ids],
  )
  return new Map(rows.map(({ id, results }) => [id, results]))
}

/** Outcomes are looked for within seconds; the rest of the time is for operators who look into a problem. */
const transactionAgeMs = 30 * 60_000
const maxDeleted = 5000

/** Returns a function that deletes some of the old records of transactions, and resolves with their number. */
export function createTransactionExpiry(query: Query): () => Promise<number> {
  return async () => {
    const [row] = await query<{ readonly deleted: number }>(
      `WITH old AS (SELECT id FROM transactions WHERE created_at < ${serverTime} - $1 LIMIT ${maxDeleted}),
      deleted AS (DELETE FROM transactions WHERE id IN (SELECT id FROM old) RETURNING 1)
      SELECT count(*) deleted FROM deleted`,
      [transactionAgeMs],
    )
    return row?.deleted ?? 0
  }
}
