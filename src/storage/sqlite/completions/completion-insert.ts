import { sequenceOf } from '../../ports/completion-sequence.ts'
import type { NewCompletion } from '../../ports/completions.ts'
import type { Database } from '../connection/database.ts'
import { organizationExistsSql } from '../organizations/organization-row.ts'
import { termsOf } from '../../common/completion-terms.ts'

/** Part of a transaction: stores a completion and its search terms; stores nothing for a deleted organization. */
export function prepareCompletionInsert({ sqlite }: Database): (completion: NewCompletion) => void {
  const owner = sqlite.prepare<object, [string]>(
    `SELECT 1 FROM organizations WHERE id = ? AND ${organizationExistsSql}`,
  )
  const insert = sqlite.prepare<unknown, [number, ...string[]]>(
    `INSERT INTO completions (sequence, id, organization_id, model, metadata, completion, messages)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sequence) DO NOTHING`,
  )
  const insertTerms = sqlite.prepare<unknown, [number, string]>(
    'INSERT INTO completion_terms (rowid, terms) VALUES (?, ?)',
  )

  return (completion) => {
    const { id, organization, model, metadata } = completion
    const first = sequenceOf(id)
    if (first === undefined) throw new Error('The id of a completion to store has no sequence.')
    // The organization may be deleted while its call runs; the call must not fail because of that.
    if (owner.get(organization) === null) return
    const columns = [metadata, completion.completion, completion.messages].map((value) =>
      JSON.stringify(value),
    )
    // After a clock was set back, the sequence of an id may be taken.
    let sequence = first
    while (insert.run(sequence, id, organization, model, ...columns).changes === 0) sequence++
    insertTerms.run(sequence, termsOf(organization, model, metadata))
  }
}
