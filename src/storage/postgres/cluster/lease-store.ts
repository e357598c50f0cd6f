import { ApiError } from '../../../lib/errors/errors.ts'
import { processRemoved } from '../../common/process-identity.ts'
import type { Connection, Connections } from '../connection/connections.ts'
import type { Health } from '../health.ts'
import { isRejected, isRepeatable, outageMessage, toOutage } from '../postgres-errors.ts'
import { begin as beginTransaction } from '../writer/transaction.ts'
import { renewLeases, type LeaseRenewals, type LeaseGrants } from './lease-renewal.ts'
import {
  insertBuckets,
  lockBuckets,
  type LockedBucket,
  readSlots,
  type SlotRow,
  toLeaseState,
  writeLeases,
} from './lease-statements.ts'

/**
 * Executes the renewals of a process in one transaction, which need not be durable: a crash of the server may forget the
 * last of them. The sum of what is granted never exceeds a limit, and the slots of a process that was evicted are free.
 * Rejects with 503 if the database is unavailable, or if the process was evicted: then nothing has changed. A renewal
 * that was sent settles when its outcome is known, however long the database is unavailable.
 */
export type RenewLeases = (process: string, renewals: LeaseRenewals) => Promise<LeaseGrants>

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
        const isOutage = !(error instanceof ApiError) && outageMessage(error) !== undefined
        if (isOutage) health.failed(error)
        throw toOutage(error)
      }
    }
  }
}

/** A renewal whose rows are locked, and which is about to be committed. */
type LockedRenewal = ReturnType<typeof renewLeases> & { readonly transaction: string }

/** Makes two round trips. */
async function attemptRenewal(
  process: string,
  renewals: LeaseRenewals,
  connections: Connections,
  { health, now, timeoutMs = defaultTimeoutMs }: LeaseStoreOptions,
): Promise<LeaseGrants> {
  let committing: LockedRenewal | undefined
  try {
    return await connections.use(async (connection) => {
      const locked = await lockAndRenew(process, renewals, connection, { now, timeoutMs })
      committing = locked
      await writeAndCommit(process, locked.changed, connection, timeoutMs)
      return locked.grants
    })
  } catch (error) {
    if (committing === undefined || isRejected(error)) throw error
    if (!(await isCommitted(committing.transaction, connections, (cause) => health.failed(cause))))
      throw error
    return committing.grants
  }
}

/** The first of two round trips. */
async function lockAndRenew(
  process: string,
  renewals: LeaseRenewals,
  { send }: Connection,
  { now, timeoutMs }: Pick<LeaseStoreOptions, 'now' | 'timeoutMs'>,
): Promise<LockedRenewal> {
  const [, , { rows: buckets }, { rows: slots }] = await Promise.all([
    send(begin, [], timeoutMs),
    send(...insertBuckets(renewals), timeoutMs),
    send<LockedBucket>(...lockBuckets(process, renewals), timeoutMs),
    send<SlotRow>(...readSlots(process, renewals), timeoutMs),
  ])
  const [first] = slots
  if (first?.present) {
    const state = toLeaseState(buckets, slots, now?.() ?? first.now)
    return { ...renewLeases(renewals, state), transaction: first.transaction }
  }
  await send('ROLLBACK', [], timeoutMs)
  throw processRemoved()
}

async function writeAndCommit(
  process: string,
  changed: LockedRenewal['changed'],
  { send }: Connection,
  timeoutMs: number,
): Promise<void> {
  const write = writeLeases(process, changed)
  const written = write && send(...write, timeoutMs)
  const [{ command }] = await Promise.all([send('COMMIT', [], timeoutMs), written])
  if (command !== 'COMMIT') throw new Error('The transaction that renews leases was rolled back.')
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
