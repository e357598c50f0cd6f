import { isCanceled, toOutage } from '../postgres-errors.ts'
import type { Connections } from './connections.ts'

/**
 * Runs one statement that only reads. The server itself ends it after the timeout, so that nothing goes on working for a
 * caller that has its error; rejects with `timeoutError()` then, and with 503 if the database is unavailable.
 */
export type BoundedRead = <Row>(
  text: string,
  values: readonly unknown[],
  timeoutMs: number,
  timeoutError: () => Error,
) => Promise<readonly Row[]>

/** The server ends a statement first; this is for a server that does not answer. */
const graceMs = 1000

/** To compile such a statement takes longer than to run it; its intermediate results need memory. */
const settings = "SET LOCAL jit = off; SET LOCAL work_mem = '64MB'"

/** See `BoundedRead`. */
export function createBoundedRead(connections: Connections): BoundedRead {
  return async <Row>(
    text: string,
    values: readonly unknown[],
    timeoutMs: number,
    timeoutError: () => Error,
  ) => {
    try {
      return await connections.use(async ({ send }) => {
        const opened = send(
          `BEGIN READ ONLY; SET LOCAL statement_timeout = ${Math.max(1, Math.floor(timeoutMs))}; ${settings}`,
        )
        opened.catch(() => {})
        const { rows } = await send<Row>(text, values, timeoutMs + graceMs)
        await opened
        await send('COMMIT')
        return rows
      })
    } catch (error) {
      throw isCanceled(error) ? timeoutError() : toOutage(error)
    }
  }
}
