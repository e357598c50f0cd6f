import type { Database } from '../connection/database.ts'
import { sequenceAt } from '../sequence.ts'
import { oneStep } from '../step-size.ts'

/** The most rows of one step: each has terms in the index beside it. */
const mostRows = 100

/** Parts of transactions, each of which deletes some and tells how many; none where none is left. */
export type CompletionSteps = {
  /** The oldest of those that were made before this moment, whoever has them. */
  expire(before: number): number
  /** The oldest of the organization. */
  empty(organization: string): number
}

export function prepareCompletionSteps({ sqlite }: Database): CompletionSteps {
  // The length in octets is known without reading the text.
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
    expire: (before) => deleteFirst(oldest.all(sequenceAt(before), mostRows), (last) => remove.run(last)),
    empty: (organization) =>
      deleteFirst(oldestOf.all(organization, mostRows), (last) => removeOf.run(organization, last)),
  }
}

type Candidate = { readonly sequence: number; readonly bytes: number }

function deleteFirst(candidates: readonly Candidate[], deleteUpTo: (last: number) => void): number {
  const chosen = oneStep(candidates)
  const last = chosen.at(-1)
  if (last !== undefined) deleteUpTo(last.sequence)
  return chosen.length
}
