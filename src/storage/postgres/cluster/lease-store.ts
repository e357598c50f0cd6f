import { ApiError } from '../../../lib/errors/errors.ts'
import { processRemoved } from '../../common/process-identity.ts'
import type { Connection, Connections } from '../connection/connections.ts'
import type { Health } from '../health.ts'
import { isRejected, isRepeatable, outageMessage, toOutage } from '../postgres-errors.ts'
import { begin as beginTransaction } from '../writer/transaction.ts'
import { type LeaseGrant, type LeaseRenewal, type LeaseState, renewLeases } from './lease-renewal.ts'
import {
  type Clock,
  findOthers,
  insertBuckets,
  lockBuckets,
  readClock,
  writeLeases,
} from './lease-statements.ts'

/**
 * Executes the renewals of a process, none twice for a limit, in one transaction; resolves with the grants in their order. The
 * sum of what is granted never exceeds a limit, and the slots of a process that was evicted are free. Rejects with 503 if the
 * database is unavailable, or if the process was evicted: then nothing has changed. A renewal that was sent settles when its
 * outcome is known, however long the database is unavailable.
 */
export type RenewLeases = (
  process: string,
  renewals: readonly LeaseRenewal[],
) => Promise<readonly LeaseGrant[]>

export type LeaseStoreOptions = {
  readonly health: Pick<Health, 'unavailableError' | 'failed'>
  /** Milliseconds, instead of the clock of the database. */
  readonly now?: (() => number) | undefined
  /** The time to wait for a statement. */
  readonly timeoutMs?: number | undefined
}

const maxAttempts = 3
const defaultTimeoutMs = 3000
/** Between two attempts to find the outcome of a transaction. */
const searchIntervalMs = 250
/** A crash of the server may forget the last renewals, because nothing else depends on them. */
const begin = `${beginTransaction}; SET LOCAL synchronous_commit = off`

/** See `RenewLeases`; the connections must be busy with nothing else. */
export function createLeaseStore(connections: Connections, options: LeaseStoreOptions): RenewLeases {
  const { health } = options
  return async (process, renewals) => {
    for (let attempt = 1; ; attempt++) {
      const unavailable = health.unavailableError()
      if (unavailable) throw unavailable
      try {
        return await attemptRenewal(process, renewals, connections, options)
      } catch (error) {
        if (attempt < maxAttempts && isRepeatable(error)) continue
        if (!(error instanceof ApiError) && outageMessage(error) !== undefined) health.failed(error)
        throw toOutage(error)
      }
    }
  }
}

/** A renewal that is about to be committed. */
type Committing = { readonly transaction: string; readonly grants: readonly LeaseGrant[] }

/** Makes two round trips. */
async function attemptRenewal(
  process: string,
  renewals: readonly LeaseRenewal[],
  connections: Connections,
  { health, now, timeoutMs = defaultTimeoutMs }: LeaseStoreOptions,
): Promise<readonly LeaseGrant[]> {
  let committing: Committing | undefined
  try {
    return await connections.use(async (connection) => {
      const send: Connection['send'] = (text, values) => connection.send(text, values, timeoutMs)
      const { transaction, ...state } = await lockLimits(process, renewals, send)
      const { grants, rows } = renewLeases(renewals, { ...state, now: Math.floor(now?.() ?? state.now) })
      committing = { transaction, grants }
      const { text, values } = writeLeases(process, rows)
      const [, { command }] = await Promise.all([send(text, values), send('COMMIT')])
      if (command !== 'COMMIT') throw new Error('The transaction that renews leases was rolled back.')
      return grants
    })
  } catch (error) {
    if (committing === undefined || isRejected(error)) throw error
    if (!(await isCommitted(committing.transaction, connections, (cause) => health.failed(cause))))
      throw error
    return committing.grants
  }
}

/** Begins a transaction, and reads the limits. */
async function lockLimits(
  process: string,
  renewals: readonly LeaseRenewal[],
  send: Connection['send'],
): Promise<LeaseState & { readonly transaction: string }> {
  const owners = [...new Set(renewals.map(({ organization }) => organization))]
  const [, , { rows: buckets }, { rows: slots }, { rows: clocks }] = await Promise.all([
    send(begin),
    send(insertBuckets, [owners]),
    send<LeaseState['buckets'][number]>(lockBuckets, [process, owners]),
    send<LeaseState['slots'][number]>(findOthers, [process, owners]),
    send<Clock>(readClock),
  ])
  const [clock] = clocks
  if (clock && buckets.length > 0) return { buckets, slots, ...clock }
  await send('ROLLBACK')
  throw processRemoved()
}

/**
 * Resolves with whether a transaction was committed whose connection was lost; asks until the server answers, however long
 * the database is unavailable. The server keeps that for every recent transaction, so that a renewal needs no row in
 * `transactions`. `onUnavailable` is called after each attempt that failed.
 */
async function isCommitted(
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
