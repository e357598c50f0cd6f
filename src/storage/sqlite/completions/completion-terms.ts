import type { Fields } from '../../../lib/json/json.ts'
import type { MetadataPair } from '../../ports/completions.ts'

/** All that a completion can be found by, as the text that its row of `completion_terms` holds. */
export function termsOf(organization: string, model: string, metadata: Fields): string {
  const pairs = Object.entries(metadata).map(([key, value]) => pairTerm(organization, [key, textOf(value)]))
  return [modelTerm(organization, model), ...pairs].join(' ')
}

/** What finds those that have every pair and, where it is given, the model. */
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

/** One word for the index, whatever is in it: 128 bits, so that no two are ever the same by chance. */
function term(parts: readonly string[]): string {
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
