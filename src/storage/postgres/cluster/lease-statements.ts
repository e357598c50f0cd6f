import type { BucketState } from '../../../lib/token-bucket.ts'
import { Parameters } from '../writer/statement.ts'
import {
  type ChangedBucket,
  type ChangedSlots,
  type LeaseRenewals,
  type LeaseState,
  unusedBucket,
} from './lease-renewal.ts'

type Statement = readonly [text: string, values: readonly unknown[]]

export type LockedBucket = BucketState & { readonly organization: string; readonly kind: string }

/** The slots of one kind; null if there are none. Each row has the clock, the transaction, and whether the process is still there. */
export type SlotRow = {
  readonly now: number
  readonly transaction: string
  readonly present: boolean
  readonly organization: string | null
  readonly kind: string | null
  readonly held: number | null
  readonly others: number | null
}

/** Inserts the rows to lock that are missing: an organization is new. In their order, as they are locked. */
export function insertBuckets(renewals: LeaseRenewals): Statement {
  const parameters = new Parameters()
  const table = parameters.table('wanted', keyTypes, lockedKeys(renewals))
  const { limit, spent, refilledAt } = unusedBucket
  return [
    `INSERT INTO rate_limit_buckets (organization_id, kind, "limit", spent, refilled_at)
    SELECT organization_id, kind, ${limit}, ${spent}, ${refilledAt} FROM ${table} ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
    parameters.values,
  ]
}

/**
 * Locks the buckets in their order, and before them the row of the process: it cannot be removed before the commit. The
 * bucket of requests is also the lock of the slots.
 */
export function lockBuckets(process: string, renewals: LeaseRenewals): Statement {
  const parameters = new Parameters()
  const table = parameters.table('wanted', keyTypes, lockedKeys(renewals))
  return [
    `WITH own AS MATERIALIZED (SELECT id FROM processes WHERE id = ${parameters.add(process)} FOR KEY SHARE)
    SELECT b.organization_id organization, b.kind, b."limit", b.spent, b.refilled_at "refilledAt"
    FROM own CROSS JOIN ${table} JOIN rate_limit_buckets b USING (organization_id, kind)
    ORDER BY b.organization_id, b.kind FOR NO KEY UPDATE OF b`,
    parameters.values,
  ]
}

/** To be sent after the lock, because it sees what was committed until it starts. */
export function readSlots(process: string, { slots }: LeaseRenewals): Statement {
  const parameters = new Parameters()
  const own = parameters.add(process)
  const table = parameters.table('wanted', keyTypes, slots.map(toKey))
  return [
    `SELECT clock.*, found.* FROM (
      SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now,
        pg_current_xact_id()::text transaction,
        EXISTS (SELECT FROM processes WHERE id = ${own}) present) clock
    LEFT JOIN (
      SELECT s.organization_id organization, s.kind,
        coalesce(sum(s.held) FILTER (WHERE s.process_id = ${own}), 0)::bigint held,
        coalesce(sum(s.held) FILTER (WHERE s.process_id <> ${own}), 0)::bigint others
      FROM ${table} JOIN slot_leases s USING (organization_id, kind)
      WHERE s.process_id IN (SELECT id FROM processes) GROUP BY 1, 2) found ON true`,
    parameters.values,
  ]
}

/** Writes the changes, if there are any. Slots that a process without a row had left are deleted with them. */
export function writeLeases(
  process: string,
  { buckets, slots }: { readonly buckets: readonly ChangedBucket[]; readonly slots: readonly ChangedSlots[] },
): Statement | undefined {
  if (buckets.length + slots.length === 0) return undefined
  const parameters = new Parameters()
  const bucketTable = parameters.table('n', bucketTypes, buckets.map(toBucketRow))
  const slotTable = parameters.table(
    'n',
    slotTypes,
    slots.map((slot) => ({ ...toKey(slot), held: slot.held })),
  )
  const own = parameters.add(process)
  return [
    `WITH buckets AS (
      UPDATE rate_limit_buckets b SET "limit" = n."limit", spent = n.spent, refilled_at = n.refilled_at
      FROM ${bucketTable} WHERE b.organization_id = n.organization_id AND b.kind = n.kind),
    changed AS (SELECT * FROM ${slotTable}),
    returned AS (
      DELETE FROM slot_leases s USING changed n WHERE s.organization_id = n.organization_id AND s.kind = n.kind
        AND (n.held = 0 AND s.process_id = ${own} OR s.process_id NOT IN (SELECT id FROM processes)))
    INSERT INTO slot_leases (organization_id, kind, process_id, held)
    SELECT organization_id, kind, ${own}, held FROM changed WHERE held > 0
    ON CONFLICT (organization_id, kind, process_id) DO UPDATE SET held = excluded.held`,
    parameters.values,
  ]
}

/** Combines what was read; `now` is milliseconds. */
export function toLeaseState(
  buckets: readonly LockedBucket[],
  slots: readonly SlotRow[],
  now: number,
): LeaseState {
  const states = new Map(buckets.map((row) => [keyOf(row), row]))
  const held = new Map(slots.map((row) => [keyOf(row), row]))
  return {
    now: Math.floor(now),
    bucketOf: (renewal) => states.get(keyOf(renewal)) ?? unusedBucket,
    slotsOf(renewal) {
      const row = held.get(keyOf(renewal))
      return { held: row?.held ?? 0, others: row?.others ?? 0 }
    },
  }
}

const keyTypes = { organization_id: 'text', kind: 'text' }
const bucketTypes = { ...keyTypes, limit: 'bigint', spent: 'bigint', refilled_at: 'bigint' }
const slotTypes = { ...keyTypes, held: 'bigint' }

type Key = { readonly organization: string | null; readonly kind: string | null }

function keyOf({ organization, kind }: Key): string {
  return `${kind} ${organization}`
}

function toKey({ organization, kind }: Key) {
  return { organization_id: organization, kind }
}

/** The keys of the rows to lock, each once. */
function lockedKeys({ buckets, slots }: LeaseRenewals) {
  const keys: readonly Key[] = [
    ...buckets,
    ...slots.map(({ organization }) => ({ organization, kind: 'requests' })),
  ]
  return [...new Map(keys.map((key) => [keyOf(key), toKey(key)])).values()]
}

function toBucketRow({ limit, spent, refilledAt, ...key }: ChangedBucket) {
  return { ...toKey(key), limit, spent, refilled_at: refilledAt }
}
