import { fieldsOf, parseJson } from '../../lib/json/json.ts'
import type { ResponseQuery } from '../ports/responses.ts'

/** Whether a response with this head, as JSON text, has the model and the metadata of the query; false if it is damaged. */
export function matchesFilters({ model, metadata }: ResponseQuery, text: string): boolean {
  const head = parseJson(text)
  if (head === undefined) return false
  const fields = fieldsOf(head)
  if (model !== undefined && fields.model !== model) return false
  const stored = fieldsOf(fields.metadata)
  return metadata.every(([key, value]) => Object.hasOwn(stored, key) && textOf(stored[key]) === value)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
