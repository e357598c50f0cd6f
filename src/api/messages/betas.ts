import type { SourceRequest } from '../../domain/generation/request.ts'
import { unsupportedSentence } from '../../domain/generation/warnings.ts'
import type { Model } from '../../gateway/models/model.ts'

/** The header that selects betas of Anthropic, separated by commas. */
const header = 'anthropic-beta'

/** In tokens. Anthropic charges a longer prompt at other prices, and only some models accept one without a beta. */
const standardContextWindow = 200_000

/** The source with the betas that the model is set up for, and a warning about the others. */
export type SelectedBetas = {
  readonly source: SourceRequest | undefined
  readonly warnings: readonly string[]
}

/**
 * Removes the betas of a longer context, unless the settings of the model have one: neither its prices nor its context
 * window would cover the tokens beyond the standard one.
 */
export function selectBetas(
  source: SourceRequest | undefined,
  { contextWindow = 0, slug }: Pick<Model, 'contextWindow' | 'slug'>,
): SelectedBetas {
  const betas = source?.headers?.[header]?.split(',').map((beta) => beta.trim()) ?? []
  const ignored = contextWindow > standardContextWindow ? [] : betas.filter(extendsContext)
  if (source === undefined || ignored.length === 0) return { source, warnings: [] }
  const { [header]: _, ...headers } = source.headers ?? {}
  const kept = betas.filter((beta) => !extendsContext(beta)).join(',')
  return {
    source: { ...source, headers: kept === '' ? headers : { ...headers, [header]: kept } },
    warnings: [unsupportedSentence({ what: 'Parameter', by: slug }, [...new Set(ignored)])],
  }
}

function extendsContext(beta: string): boolean {
  return /^context-\d+m-/i.test(beta)
}
