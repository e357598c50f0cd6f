import { type DirectProvider, directProviders } from './direct-providers.ts'
import { type SourceModel, sourceModels } from './source.ts'

/** A model of the file, with the provider that serves it. */
export type Selected = { readonly provider: DirectProvider; readonly model: SourceModel }

/** The models of the direct providers that answer with text and that their provider does not give up. */
export function selectModels(file: unknown): Selected[] {
  return directProviders.flatMap((provider) =>
    sourceModels(file, provider.source)
      .filter(({ modalities, status }) => modalities.output.includes('text') && status !== 'deprecated')
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((model) => ({ provider, model })),
  )
}

/** False for what makes vectors, transcripts or pictures: listed as text output, but no partner in a chat. */
export function holdsChat({ modalities, limit, cost }: SourceModel): boolean {
  const vectors = cost?.output === 0 && cost.input !== 0
  return modalities.input.includes('text') && limit.context > 0 && !vectors
}
