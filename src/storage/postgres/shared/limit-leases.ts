import { ApiError } from '../../../lib/errors/errors.ts'
import { exchangeLimits, type LimitExchanges, processRemoved } from '../../common/limit-exchange.ts'
import type { LimitGrants, LimitLeases } from '../../ports/limit-leases.ts'
import type { Connection, Connections } from '../connection/connections.ts'
import type { Health } from '../health/health.ts'
import { databaseUnavailable, isRepeatable, outageMessage, toOutage } from '../postgres-errors.ts'
import { begin as beginTransaction } from '../writer/transaction.ts'
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
  readonly health: Pick<Health, 'refusal' | 'failed'>
  /** Milliseconds, instead of the clock of the database. */
  readonly now?: (() => number) | undefined
}

const attempts = 3
const timeoutMs = 3000

/** The limits in this database, exchanged over connections that are busy with nothing else. */
export function createLimitLeases(
  connections: Connections,
  { health, now }: LimitLeasesOptions,
): LimitLeases {
  async function attemptExchange(exchanges: LimitExchanges): Promise<LimitGrants | undefined> {
    const grants = await connections.use((connection) => transact(connection, exchanges, now))
    // An organization is new. In a transaction of its own, so that rows are always locked in the same order.
    if (grants === undefined)
      await connections.use(({ send }) => send(...insertBuckets(exchanges), timeoutMs))
    return grants
  }

  return {
    async exchange(process, buckets, slots) {
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const refusal = health.refusal()
        if (refusal) throw refusal
        try {
          const grants = await attemptExchange({ process, buckets, slots })
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

/**
 * Makes two round trips: the first one locks and reads, the second one writes and commits. Resolves with undefined, and
 * changes nothing, if a row is missing.
 */
async function transact(
  { send }: Connection,
  exchanges: LimitExchanges,
  now: (() => number) | undefined,
): Promise<LimitGrants | undefined> {
  const [, locked, found] = await Promise.all([
    send(begin, [], timeoutMs),
    send<LockedBucket>(...lockBuckets(exchanges), timeoutMs),
    send<SlotRow>(...readSlots(exchanges), timeoutMs),
  ])
  const state = toLimitState(exchanges, locked.rows, found.rows, now)
  if (state === undefined) {
    await send('ROLLBACK', [], timeoutMs)
    if (!found.rows[0]?.present) throw processRemoved()
    return undefined
  }
  const { grants, changes } = exchangeLimits(exchanges, state)
  const write = writeLeases(exchanges.process, changes)
  const written = write && send(...write, timeoutMs)
  const [{ command }] = await Promise.all([send('COMMIT', [], timeoutMs), written])
  if (command !== 'COMMIT') throw new Error('The transaction of an exchange of rate limits was rolled back.')
  return grants
}

/** A crash of the server may forget the last exchanges, because nothing else depends on them. */
const begin = `${beginTransaction}; SET LOCAL synchronous_commit = off`
