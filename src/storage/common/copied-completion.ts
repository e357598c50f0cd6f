import { fieldsOf } from '../../lib/json/json.ts'
import type { CopiedRow } from '../ports/copy.ts'
import { termsOf } from './completion-terms.ts'

/** Returns the search terms of a copied completion. One whose metadata is damaged is only found by its model. */
export function termsOfCopied({ organization_id, model, metadata }: CopiedRow): string {
  return termsOf(String(organization_id), String(model), fieldsOf(parsed(String(metadata))))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
