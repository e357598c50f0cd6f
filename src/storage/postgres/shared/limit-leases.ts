import { ApiError } from '../../../lib/errors/errors.ts'
import {
  exchangeLimits,
  type LimitChanges,
  type LimitExchanges,
  processRemoved,
} from '../../common/limit-exchange.ts'
import type { LimitGrants, LimitLeases } from '../../ports/limit-leases.ts'
import type { Connection, Connections } from '../connection/connections.ts'
import type { Health } from '../health/health.ts'
import { databaseUnavailable, isRejected, isRepeatable, outageMessage, toOutage } from '../postgres-errors.ts'
import { begin as beginTransaction } from '../writer/transaction.ts'
import { isCommitted } from './exchange-outcome.ts'
import {
  insertBuckets,
  lockBuckets,
  type LockedBucket,
  readSlots,
  type SlotRow,
  toLimitState,
  writeLeases,
} from './limit-lease-statements.ts'

export type LimitLeasesOptions = {
  readonly health: Pick<Health, 'unavailableError' | 'failed'>
  /** Milliseconds, instead of the clock of the database. */
  readonly now?: (() => number) | undefined
  /** The time to wait for a statement. */
  readonly timeoutMs?: number | undefined
}

const attempts = 3
const defaultTimeoutMs = 3000

/** The limits in this database, exchanged over connections that are busy with nothing else. */
export function createLimitLeases(connections: Connections, options: LimitLeasesOptions): LimitLeases {
  const { health } = options
  return {
    async exchange(process, buckets, slots) {
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const unavailable = health.unavailableError()
        if (unavailable) throw unavailable
        try {
          const grants = await attemptExchange({ process, buckets, slots }, connections, options)
          if (grants !== undefined) return grants
        } catch (error) {
          if (attempt < attempts && isRepeatable(error)) continue
          const isOutage = !(error instanceof ApiError) && outageMessage(error) !== undefined
          if (isOutage) health.failed(error)
          throw toOutage(error)
        }
      }
      throw databaseUnavailable(new Error('The rows of the rate limits are missing.'))
    },
  }
}

/** Makes two round trips. Resolves with undefined, and exchanges nothing, if rows were missing, which are there from then on. */
async function attemptExchange(
  exchanges: LimitExchanges,
  connections: Connections,
  { health, now, timeoutMs = defaultTimeoutMs }: LimitLeasesOptions,
): Promise<LimitGrants | undefined> {
  let committing: LockedExchange | undefined
  try {
    await connections.use(async (connection) => {
      const locked = await lockAndRead(connection, exchanges, { now, timeoutMs })
      committing = locked
      if (locked) await writeAndCommit(connection, exchanges.process, locked.changes, timeoutMs)
    })
  } catch (error) {
    if (committing === undefined || isRejected(error)) throw error
    if (!(await isCommitted(committing.transaction, connections, health.failed))) throw error
  }
  // An organization is new. In a transaction of its own, so that rows are always locked in the same order.
  if (committing === undefined)
    await connections.use(({ send }) => send(...insertBuckets(exchanges), timeoutMs))
  return committing?.grants
}

/** An exchange whose rows are locked, and which is about to be committed. */
type LockedExchange = ReturnType<typeof exchangeLimits> & { readonly transaction: string }

/** The first of two round trips. Resolves with undefined, and ends the transaction, if a row is missing. */
async function lockAndRead(
  { send }: Connection,
  exchanges: LimitExchanges,
  { now, timeoutMs }: Pick<LimitLeasesOptions, 'now' | 'timeoutMs'>,
): Promise<LockedExchange | undefined> {
  const [, locked, found] = await Promise.all([
    send(begin, [], timeoutMs),
    send<LockedBucket>(...lockBuckets(exchanges), timeoutMs),
    send<SlotRow>(...readSlots(exchanges), timeoutMs),
  ])
  const [first] = found.rows
  const state = toLimitState(exchanges, locked.rows, found.rows, now)
  if (first !== undefined && state !== undefined)
    return { ...exchangeLimits(exchanges, state), transaction: first.transaction }
  await send('ROLLBACK', [], timeoutMs)
  if (!first?.present) throw processRemoved()
  return undefined
}

async function writeAndCommit(
  { send }: Connection,
  process: string,
  changes: LimitChanges,
  timeoutMs: number,
): Promise<void> {
  const write = writeLeases(process, changes)
  const written = write && send(...write, timeoutMs)
  const [{ command }] = await Promise.all([send('COMMIT', [], timeoutMs), written])
  if (command !== 'COMMIT') throw new Error('The transaction of an exchange of rate limits was rolled back.')
}

/** A crash of the server may forget the last exchanges, because nothing else depends on them. */
const begin = `${beginTransaction}; SET LOCAL synchronous_commit = off`
