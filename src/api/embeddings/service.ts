import type { GenerationEvent } from '../../domain/generation/events.ts'
import { joinWarnings } from '../../domain/generation/warnings.ts'
import { estimatedUsageWarning } from '../../gateway/billing/meter.ts'
import {
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../gateway/models/prepare-generation.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Json } from '../../lib/json/json.ts'
import type { Nanos } from '../../lib/usd.ts'
import { type GenerationDependencies, startGeneration } from '../generate.ts'
import { lower } from './lower.ts'
import { dimensionsOf, renderEmbeddings } from './render.ts'
import type { EmbeddingRequest } from './schema.ts'

/** The reply as JSON in parts, and its cost where the model has a price. */
export type EmbeddingResult = { readonly parts: readonly string[]; readonly cost: Nanos | undefined }

export type EmbeddingService = {
  embed(request: EmbeddingRequest, context: RequestContext): Promise<EmbeddingResult>
}

/** Serves embedding requests. */
export function createEmbeddingService(service: GenerationDependencies): EmbeddingService {
  return {
    async embed(request, context) {
      const prepare = () => prepareEmbedding(request, service)
      // An unknown property of this name selects no stream.
      const labels = { ...request, stream: false }
      const started = await startGeneration('embeddings', labels, context, prepare, service)
      const { stream, warnings, prepared } = started
      const embeddings: Json[] = []
      await stream.forEach((batch) => collect(batch, embeddings))
      const usage = stream.usage()
      const parts = await renderEmbeddings({
        embeddings,
        model: prepared.slug,
        provider: stream.provider,
        promptTokens: usage.promptTokens,
        warnings: [
          ...joinWarnings(warnings, dimensionWarnings(request, embeddings[0])),
          ...(usage.estimated ? [estimatedUsageWarning] : []),
        ],
      })
      return { parts, cost: stream.cost() }
    },
  }
}

function prepareEmbedding(
  request: EmbeddingRequest,
  { models: current, unsupported }: GenerationDependencies,
): PreparedGeneration {
  const [api, models] = ['embeddings', current()] as const
  const requested = requestedModel(models, request.model, api)
  return prepareGeneration(requested, lower(request), { api, models, unsupported })
}

function collect(batch: readonly GenerationEvent[], embeddings: Json[]): void {
  for (const event of batch) if (event.type === 'embedding') embeddings[event.index] = event.embedding
}

/** Some providers ignore the dimensions silently. */
function dimensionWarnings(
  { dimensions, model }: EmbeddingRequest,
  first: Json | undefined,
): readonly string[] {
  const received = dimensionsOf(first)
  if (dimensions == null || received === dimensions) return []
  return [
    `The embeddings of ${model} have ${received} dimensions: \`dimensions\` was ignored by its provider.`,
  ]
}
