import type { Query } from './connection/connections.ts'
import type { Statement } from './writer/statement.ts'

/** Any numbers, the same in every version of the program: the advisory locks of the totals of usage. */
const recordingLock = 723_911_720
const totalsLock = 723_911_721

const lock = (name: string, key: number) => `SELECT pg_${name}(${key}, hashtext(current_schema()))`

/**
 * The statement with which a transaction that inserts rows of `usage` begins: until its end, `usage_rollup.fence` does not
 * move. Such transactions do not wait for each other.
 */
export const lockForRecording: Statement = {
  text: lock('advisory_xact_lock_shared', recordingLock),
  values: [],
}

/** Part of a transaction: waits until no other transaction inserts rows of `usage`, and keeps others from beginning. */
export async function lockOutRecording(query: Query): Promise<void> {
  // Requests that end meanwhile wait, so this one gives up sooner.
  await query("SET LOCAL lock_timeout = '200ms'")
  await query(lock('advisory_xact_lock', recordingLock))
}

/** See `Dialect.lockTotals`. */
export const lockTotalsText = lock('advisory_xact_lock', totalsLock)

/** Part of a transaction: locks the totals, or resolves with false if another transaction is at it. */
export async function tryLockTotals(query: Query): Promise<boolean> {
  const [row] = await query<{ readonly locked: boolean }>(
    `${lock('try_advisory_xact_lock', totalsLock)} locked`,
  )
  return row?.locked === true
}
