import { openaiCompletions } from '../protocols/openai-completions.ts'
import { type EmbeddingsDialect, openaiEmbeddings } from '../protocols/openai-embeddings.ts'
import type { KindOperation, RemoteKind } from '../provider.ts'

type Operations = NonNullable<RemoteKind['operations']>

/** The embeddings and the completions of a provider with OpenAI's paths. */
export function operationsOf(name: string, dialect: Omit<EmbeddingsDialect, 'name'> = {}): Operations {
  return {
    ...embeddingsWith({ ...dialect, name }),
    completion: { protocol: openaiCompletions, path: () => '/completions' },
  }
}

/** The embeddings of a provider with OpenAI's path. */
export function embeddingsWith(
  dialect: EmbeddingsDialect,
  facts: Pick<KindOperation, 'textOnly'> = {},
): Operations {
  return { embedding: { protocol: openaiEmbeddings(dialect), path: () => '/embeddings', ...facts } }
}
