import type { Database } from './database.ts'
import { operatorError } from './database.ts'

/** The advisory lock of servers that did not share a database; its second part is the schema. */
const servingLock = 7_239_118

/**
 * Rejects with an error for the operator if a server of an earlier version uses the database, which held a lock as long
 * as it ran: its open reservations would be settled as those of a dead process. It cannot start later, because it rejects
 * the newer schema.
 */
export async function assertNoEarlierServer({
  query,
  label,
}: Pick<Database, 'query' | 'label'>): Promise<void> {
  const statement = `SELECT pg_try_advisory_xact_lock_shared(${servingLock}, hashtext(current_schema())) free`
  const [row] = await query<{ readonly free: boolean }>(statement).catch((error) => {
    throw operatorError(error, label)
  })
  if (row?.free === true) return
  throw new Error(
    `The database ${label} is in use by a weir server of an earlier version, which cannot share it. Stop that server first.`,
  )
}
