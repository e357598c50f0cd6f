import { stepBytes } from '../../common/step-size.ts'
import { sequenceAt } from '../../ports/completion-sequence.ts'
import type { Query } from '../connection/connections.ts'

/** The most rows of one step; fewer than of other tables, because each row also has entries in the search index. */
const maxRows = 100

/** Returns a function that deletes some completions that were created before this time, oldest first; see `Completions`. */
export function createCompletionExpiry(query: Query): (before: number) => Promise<number> {
  return async (before) => {
    const [row] = await query<{ readonly deleted: number }>(deleteOldest, [sequenceAt(before)])
    return row?.deleted ?? 0
  }
}

/** As many as one step may delete: at least one, of any size. `octet_length` does not read the text. */
const deleteOldest = `WITH oldest AS (
    SELECT id, sequence, octet_length(completion) + octet_length(messages) bytes FROM completions
    WHERE sequence < $1 ORDER BY sequence, id LIMIT ${maxRows}),
  sized AS (
    SELECT id, row_number() OVER w position, sum(bytes) OVER w bytes FROM oldest WINDOW w AS (ORDER BY sequence, id)),
  deleted AS (
    DELETE FROM completions WHERE id IN (SELECT id FROM sized WHERE bytes <= ${stepBytes} OR position = 1) RETURNING 1)
  SELECT count(*) deleted FROM deleted`
