import type { Database } from '../connection/database.ts'

/** SQL for the clock of SQLite in milliseconds since 1970. */
const now = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** SQL that is true if the response with this id may be erased by now. */
export function isErasable(id: string): string {
  return `NOT EXISTS (SELECT 1 FROM response_erasures e WHERE e.response_id = ${id} AND e.not_before > ${now})`
}

export type Erasures = ReturnType<typeof prepareErasures>

/** Parts of transactions on the time before which hidden responses are not erased. */
export function prepareErasures({ sqlite }: Database, delayMs: number) {
  const hide = sqlite.prepare<{ readonly bytes: number }, [string, string]>(
    `UPDATE responses SET deletion = 'due' WHERE id = ? AND organization_id = ? AND deletion IS NULL
      RETURNING octet_length(head) + octet_length(log) + octet_length(input) bytes`,
  )
  const insert = sqlite.prepare<unknown, [string, number]>(
    `INSERT INTO response_erasures (response_id, not_before) VALUES (?, ${now} + ?)
      ON CONFLICT (response_id) DO UPDATE SET not_before = excluded.not_before`,
  )
  const postpone = sqlite.prepare<unknown, [number, string]>(
    `UPDATE response_erasures SET not_before = ${now} + ? WHERE response_id IN (SELECT value FROM json_each(?))`,
  )
  const due = sqlite.prepare<unknown, []>("SELECT 1 FROM responses WHERE deletion = 'due' LIMIT 1")
  return {
    /** Whether anything is to be erased, now or later. */
    hasDue: () => due.get() !== null,
    /**
     * Hides a response that may be erased after the delay, unless another process postpones that: it may be about to store
     * a response that follows. Returns its bytes.
     */
    hide(organization: string, id: string): number {
      const hidden = hide.get(id, organization)
      if (hidden !== null) insert.run(id, delayMs)
      return hidden?.bytes ?? 0
    },
    /** Postpones the erasure of those of the responses that are hidden. */
    postpone: (ids: readonly string[]) => void postpone.run(delayMs, JSON.stringify(ids)),
  }
}
