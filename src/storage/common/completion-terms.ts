import { type Fields, fieldsOf, parseJson } from '../../lib/json/json.ts'
import type { MetadataPair } from '../ports/completions.ts'
import type { CopiedRow } from '../ports/copy.ts'

/**
 * Returns the search terms of a completion, as the text of its row in `completion_terms`. One without metadata has none:
 * only a query with metadata searches the terms, and its model and order have an index of their own.
 */
export function termsOf(organization: string, model: string, metadata: Fields): string {
  const pairs = Object.entries(metadata).map(([key, value]) => pairTerm(organization, [key, textOf(value)]))
  return pairs.length === 0 ? '' : [modelTerm(organization, model), ...pairs].join(' ')
}

/** Returns the search terms of a copied completion. One whose metadata is damaged has none. */
export function termsOfCopied({ organization_id, model, metadata }: CopiedRow): string {
  return termsOf(String(organization_id), String(model), fieldsOf(parseJson(String(metadata))))
}

/** Returns the FTS5 query for the completions that have every pair and, if present, the model. */
export function matchOf(
  organization: string,
  model: string | undefined,
  pairs: readonly MetadataPair[],
): string {
  const terms = pairs.map((pair) => pairTerm(organization, pair))
  if (model !== undefined) terms.push(modelTerm(organization, model))
  return [...new Set(terms)].join(' ')
}

function pairTerm(organization: string, [key, value]: MetadataPair): string {
  return term(['pair', organization, key, value])
}

function modelTerm(organization: string, model: string): string {
  return term(['model', organization, model])
}

/** Hashes the parts to one word of the index; 128 bits, so that no two collide. */
function term(parts: readonly string[]): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

/** A value of metadata, as it is compared. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
