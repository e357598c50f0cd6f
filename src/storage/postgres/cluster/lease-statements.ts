import { rate_limit_buckets, slot_leases } from '../../schema/postgres.ts'
import { serverTime } from '../connection/connections.ts'
import { columnTypesOf, Parameters, type Statement } from '../writer/statement.ts'
import { type BucketRow, type SlotRow, unusedBucket } from './lease-renewal.ts'

/** Inserts the buckets of the owners that are missing: an owner is new. In their order, as they are locked. */
export const insertBuckets = `INSERT INTO rate_limit_buckets (organization_id, kind, "limit", spent, refilled_at)
  SELECT owner, kind, ${unusedBucket.limit}, ${unusedBucket.spent}, ${unusedBucket.refilledAt}
  FROM unnest($1::text[]) owner CROSS JOIN (VALUES ('requests'), ('tokens')) kinds (kind)
  ORDER BY 1, 2 ON CONFLICT DO NOTHING`

/**
 * Locks the buckets of the owners in their order, which are also the locks of their slots; and before them the row of the
 * process, which cannot be removed before the commit. There are no rows if it was removed before.
 */
export const lockBuckets = `WITH own AS MATERIALIZED (SELECT id FROM processes WHERE id = $1 FOR KEY SHARE)
  SELECT b.organization_id organization, b.kind, b."limit", b.spent, b.refilled_at "refilledAt"
  FROM own CROSS JOIN rate_limit_buckets b WHERE b.organization_id = ANY($2)
  ORDER BY b.organization_id, b.kind FOR NO KEY UPDATE OF b`

/** The slots of the other processes. To be sent after the lock, because it sees what was committed until it starts. */
export const findOthers = `SELECT organization_id organization, kind, sum(held)::bigint others FROM slot_leases
  WHERE organization_id = ANY($2) AND process_id <> $1 AND process_id IN (SELECT id FROM processes) GROUP BY 1, 2`

/** To be sent after the lock as well. */
export const readClock = `SELECT pg_current_xact_id()::text transaction, ${serverTime} now`

export type Clock = { readonly transaction: string; readonly now: number }

/** Writes the rows. Slots that a process without a row had left are deleted with them. */
export function writeLeases(
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
