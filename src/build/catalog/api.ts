import type { DirectProvider } from './direct-providers.ts'
import type { SourceModel } from './source.ts'

/**
 * True for models that OpenAI serves by its Responses API alone: the pro models, the coding models and those for
 * research, by the list of endpoints on each model's page. The source does not say it.
 */
export function onlyByResponses(provider: DirectProvider, { id }: SourceModel): boolean {
  return provider.name === 'openai' && /-pro$|-codex|-deep-research$/.test(id)
}
