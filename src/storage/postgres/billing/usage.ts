import { stepBytes, stepRows } from '../../common/step-size.ts'
import type { UsageUpkeep } from '../../ports/storage.ts'
import type { Query } from '../connection/connections.ts'
import type { Database } from '../connection/database.ts'
import { subtractDeleted } from '../usage-rollup.ts'

/** Deletes the usage rows that were created before a time, in steps. */
export function createUsageExpiry({
  query,
  transact,
}: Pick<Database, 'query' | 'transact'>): UsageUpkeep['expire'] {
  return async (before) => {
    const [last] = await query<LastRow>(selectLast, [before])
    return last === undefined ? 0 : await transact((query) => deleteUpTo(query, last))
  }
}

type LastRow = { readonly created_at: number; readonly id: string }

async function deleteUpTo(query: Query, { created_at, id }: LastRow): Promise<number> {
  await subtractDeleted(query, created_at, id)
  const deleted = await query('DELETE FROM usage WHERE (created_at, id) <= ($1::bigint, $2) RETURNING 1', [
    created_at,
    id,
  ])
  return deleted.length
}

const usageBytes =
  'coalesce(octet_length("user"), 0) + coalesce(octet_length(tags), 0) + coalesce(octet_length(trace), 0)'

/** The last of the rows that one step may delete: at least one, of any size. */
const selectLast = `WITH oldest AS (
    SELECT created_at, id, ${usageBytes} bytes FROM usage
    WHERE created_at < $1 ORDER BY created_at, id LIMIT ${stepRows}),
  sized AS (
    SELECT created_at, id, row_number() OVER w position, sum(bytes) OVER w bytes FROM oldest
    WINDOW w AS (ORDER BY created_at, id))
  SELECT created_at, id FROM sized WHERE bytes <= ${stepBytes} OR position = 1
  ORDER BY created_at DESC, id DESC LIMIT 1`
