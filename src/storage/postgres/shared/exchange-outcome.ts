import type { Connections } from '../connection/connections.ts'
import { outageMessage } from '../postgres-errors.ts'

/** Between two attempts to find the outcome. */
const searchIntervalMs = 250

/**
 * Resolves with whether a transaction was committed whose connection was lost; asks until the server answers, however long
 * the database is unavailable. The server keeps that for every recent transaction, so that an exchange needs no row in
 * `transactions`. `onUnavailable` is called after each attempt that failed.
 */
export async function isCommitted(
  transaction: string,
  { use }: Connections,
  onUnavailable: (cause: unknown) => void,
): Promise<boolean> {
  for (;;) {
    try {
      const status = await use(async ({ send }) => {
        const { rows } = await send<{ readonly status: string | null }>(statusOf, [transaction])
        return rows[0]?.status
      })
      // Until the server has executed what it had received, or has noticed that the connection is closed.
      if (status !== 'in progress') return status === 'committed'
    } catch (error) {
      if (outageMessage(error) === undefined) throw error
      onUnavailable(error)
    }
    await Bun.sleep(searchIntervalMs)
  }
}

const statusOf = 'SELECT pg_xact_status($1::xid8) status'
