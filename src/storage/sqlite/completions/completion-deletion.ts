import { sequenceAt } from '../../ports/completion-sequence.ts'
import type { Database } from '../connection/database.ts'
import { oneStep } from '../../common/step-size.ts'

/** The most rows of one step; fewer than of other tables, because each row also has an entry in the search index. */
const maxRows = 100

/** Parts of transactions. Each deletes some completions, oldest first, and returns their number: 0 if none are left. */
export type CompletionDeletion = {
  /** Deletes completions of any organization that were created before this time. */
  expire(before: number): number
  /** Deletes completions of one organization. */
  deleteOf(organization: string): number
}

export function prepareCompletionDeletion({ sqlite }: Database): CompletionDeletion {
  // `octet_length` does not read the text.
  const candidates =
    'SELECT sequence, octet_length(completion) + octet_length(messages) AS bytes FROM completions'
  const oldest = sqlite.prepare<Candidate, [number, number]>(
    `${candidates} WHERE sequence < ? ORDER BY sequence LIMIT ?`,
  )
  const remove = sqlite.prepare<unknown, [number]>('DELETE FROM completions WHERE sequence <= ?')
  const oldestOf = sqlite.prepare<Candidate, [string, number]>(
    `${candidates} WHERE organization_id = ? ORDER BY sequence LIMIT ?`,
  )
  const removeOf = sqlite.prepare<unknown, [string, number]>(
    'DELETE FROM completions WHERE organization_id = ? AND sequence <= ?',
  )

  return {
    expire: (before) => deleteFirst(oldest.all(sequenceAt(before), maxRows), (last) => remove.run(last)),
    deleteOf: (organization) =>
      deleteFirst(oldestOf.all(organization, maxRows), (last) => removeOf.run(organization, last)),
  }
}

type Candidate = { readonly sequence: number; readonly bytes: number }

function deleteFirst(candidates: readonly Candidate[], deleteUpTo: (last: number) => void): number {
  const chosen = oneStep(candidates)
  const last = chosen.at(-1)
  if (last !== undefined) deleteUpTo(last.sequence)
  return chosen.length
}
