import { stepBytes, stepRows } from '../../common/step-size.ts'
import type { UsageUpkeep } from '../../ports/storage.ts'
import type { Query } from '../connection/connections.ts'

/** Deletes the usage rows that were created before a time, in steps. */
export function createUsageExpiry(query: Query): Pick<UsageUpkeep, 'expire'> {
  return {
    async expire(before) {
      const [row] = await query<{ readonly deleted: number }>(deleteOldest, [before])
      return row?.deleted ?? 0
    },
  }
}

const usageBytes =
  'coalesce(octet_length("user"), 0) + coalesce(octet_length(tags), 0) + coalesce(octet_length(trace), 0)'

/** As many as one step may delete: at least one, of any size. */
const deleteOldest = `WITH oldest AS (
    SELECT created_at, id, ${usageBytes} bytes FROM usage
    WHERE created_at < $1 ORDER BY created_at, id LIMIT ${stepRows}),
  sized AS (
    SELECT created_at, id, row_number() OVER w position, sum(bytes) OVER w bytes FROM oldest
    WINDOW w AS (ORDER BY created_at, id)),
  deleted AS (
    DELETE FROM usage WHERE (created_at, id) IN
      (SELECT created_at, id FROM sized WHERE bytes <= ${stepBytes} OR position = 1) RETURNING 1)
  SELECT count(*) deleted FROM deleted`
