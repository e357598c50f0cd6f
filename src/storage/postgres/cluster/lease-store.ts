import { ApiError } from '../../../lib/errors/errors.ts'
import { processRemoved } from '../../common/process-identity.ts'
import { type Connection, type Connections, serverTime } from '../connection/connections.ts'
import type { Health } from '../health.ts'
import { isRejected, isRepeatable, outageMessage, toOutage } from '../postgres-errors.ts'
import { begin as beginTransaction } from '../writer/transaction.ts'
import {
  type BucketRow,
  type LeaseGrant,
  type LeaseRenewal,
  type LeaseState,
  renewLeases,
  type SlotRow,
  unusedBucket,
} from './lease-renewal.ts'
import { rate_limit_buckets, slot_leases } from '../../schema/postgres.ts'
import { columnTypesOf, Parameters, type Statement } from '../writer/statement.ts'

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

type LeaseStoreOptions = {
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

/** Inserts the buckets of the owners that are missing: an owner is new. In their order, as they are locked. */
const insertBuckets = `INSERT INTO rate_limit_buckets (organization_id, kind, "limit", spent, refilled_at)
  SELECT owner, kind, ${unusedBucket.limit}, ${unusedBucket.spent}, ${unusedBucket.refilledAt}
  FROM unnest($1::text[]) owner CROSS JOIN (VALUES ('requests'), ('tokens')) kinds (kind)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING`

/**
 * Locks the buckets of the owners in their order, which are also the locks of their slots; and before them the row of the
 * process, which cannot be removed before the commit. There are no rows if it was removed before.
 */
const lockBuckets = `WITH own AS MATERIALIZED (SELECT id FROM processes WHERE id = $1 FOR KEY SHARE)
  SELECT b.organization_id organization, b.kind, b."limit", b.spent, b.refilled_at "refilledAt"
  FROM own CROSS JOIN rate_limit_buckets b WHERE b.organization_id = ANY($2)
  ORDER BY b.organization_id, b.kind FOR NO KEY UPDATE OF b`

/** The slots of the other processes. To be sent after the lock, because it sees what was committed until it starts. */
const findOthers = `SELECT organization_id organization, kind, sum(held)::bigint others FROM slot_leases
  WHERE organization_id = ANY($2) AND process_id <> $1 AND process_id IN (SELECT id FROM processes) GROUP BY 1, 2`

/** To be sent after the lock as well. */
const readClock = `SELECT pg_current_xact_id()::text transaction, ${serverTime} now`

type Clock = { readonly transaction: string; readonly now: number }

/** Writes the rows. Slots that a process without a row had left are deleted with them. */
function writeLeases(
  process: string,
  { buckets, slots }: { readonly buckets: readonly BucketRow[]; readonly slots: readonly SlotRow[] },
): Statement {
  const parameters = new Parameters()
  const bucketRows = buckets.map(({ organization, refilledAt, ...row }) => ({
    ...row,
    organization_id: organization,
    refilled_at: refilledAt,
  }))
  const slotRows = slots.map(({ organization, ...row }) => ({
    ...row,
    organization_id: organization,
    process_id: process,
  }))
  const text = `WITH buckets AS (
      UPDATE rate_limit_buckets b SET "limit" = n."limit", spent = n.spent, refilled_at = n.refilled_at
      FROM ${parameters.table('n', bucketTypes, bucketRows)}
      WHERE b.organization_id = n.organization_id AND b.kind = n.kind),
    own AS (SELECT * FROM ${parameters.table('own', slotTypes, slotRows)}),
    returned AS (
      DELETE FROM slot_leases s USING own WHERE s.organization_id = own.organization_id AND s.kind = own.kind
        AND (own.held = 0 AND s.process_id = own.process_id OR s.process_id NOT IN (SELECT id FROM processes)))
    INSERT INTO slot_leases (organization_id, kind, process_id, held)
    SELECT organization_id, kind, process_id, held FROM own WHERE held > 0
    ON CONFLICT (organization_id, kind, process_id) DO UPDATE SET held = excluded.held`
  return { text, values: parameters.values }
}

const bucketTypes = columnTypesOf<'organization_id' | 'kind' | 'limit' | 'spent' | 'refilled_at'>(
  rate_limit_buckets,
)
const slotTypes = columnTypesOf<'organization_id' | 'kind' | 'process_id' | 'held'>(slot_leases)
