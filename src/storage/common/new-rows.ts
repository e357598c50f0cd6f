import { printJson } from '../../lib/json/printed.ts'
import { type NewCompletion, sequenceOf } from '../ports/completions.ts'
import type { NewResponse } from '../ports/responses.ts'
import { termsOf } from './completion-terms.ts'

/** Returns the row of a completion, and its search terms. */
export function toCompletionRow({ id, organization, model, metadata, completion, messages }: NewCompletion) {
  const sequence = sequenceOf(id)
  if (sequence === undefined) throw new Error('The id of a completion to store has no sequence.')
  const row = {
    sequence,
    id,
    organization_id: organization,
    model,
    metadata: JSON.stringify(metadata),
    completion: JSON.stringify(completion),
    messages: printJson(messages),
  }
  return { row, terms: termsOf(organization, model, metadata) }
}

/** Returns the row of a response. */
export function toResponseRow(response: NewResponse) {
  return {
    id: response.id,
    organization_id: response.organization,
    previous_id: response.previousId ?? null,
    status: response.status,
    head: JSON.stringify(response.head),
    run: 'run' in response ? JSON.stringify(response.run) : null,
    log: response.log,
    input: printJson(response.input),
  }
}
