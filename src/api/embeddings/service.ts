import type { GenerationEvent } from '../../domain/generation/events.ts'
import { joinWarnings } from '../../domain/generation/warnings.ts'
import { estimatedUsageWarning } from '../../gateway/billing/meter.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import type { Models } from '../../gateway/models/models.ts'
import { type PreparedGeneration, prepareGeneration } from '../../gateway/models/prepare-generation.ts'
import { recordUnprepared } from '../../http/record-rejected.ts'
import { type RequestContext, requestMetadata } from '../../http/request-context.ts'
import type { Json } from '../../lib/json/json.ts'
import type { Nanos } from '../../lib/usd.ts'
import { lower } from './lower.ts'
import { dimensionsOf, renderEmbeddings } from './render.ts'
import type { EmbeddingRequest } from './schema.ts'

export type EmbeddingServiceDependencies = {
  readonly gateway: Gateway
  readonly models: () => Models
  readonly unsupported: 'reject' | 'drop'
}

/** The reply as JSON in parts, and its cost where the model has a price. */
export type EmbeddingResult = { readonly parts: readonly string[]; readonly cost: Nanos | undefined }

export type EmbeddingService = {
  embed(request: EmbeddingRequest, context: RequestContext): Promise<EmbeddingResult>
}

/** Serves embedding requests. */
export function createEmbeddingService(service: EmbeddingServiceDependencies): EmbeddingService {
  return {
    async embed(request, context) {
      const prepared = await prepare(request, context, service)
      const stream = await start(request, prepared, context, service)
      const embeddings: Json[] = []
      await stream.forEach((batch) => collect(batch, embeddings))
      const usage = stream.usage()
      const parts = await renderEmbeddings({
        embeddings,
        model: prepared.slug,
        provider: stream.provider,
        promptTokens: usage.promptTokens,
        warnings: [
          ...joinWarnings(prepared.warnings, stream.warnings, dimensionWarnings(request, embeddings[0])),
          ...(usage.estimated ? [estimatedUsageWarning] : []),
        ],
      })
      return { parts, cost: stream.cost() }
    },
  }
}

async function prepare(
  request: EmbeddingRequest,
  context: RequestContext,
  service: EmbeddingServiceDependencies,
): Promise<PreparedGeneration> {
  const { models, unsupported } = service
  try {
    return prepareGeneration(request, lower, { api: 'embeddings', models: models(), unsupported })
  } catch (error) {
    await recordUnprepared(error, request, context, 'embeddings', service)
    throw error
  }
}

function start(
  request: EmbeddingRequest,
  { slug, model, generation }: PreparedGeneration,
  context: RequestContext,
  { gateway }: EmbeddingServiceDependencies,
): Promise<GenerationStream> {
  const { organization, admission, signal } = context
  return gateway.generate({
    metadata: requestMetadata(request, context, 'embeddings', slug),
    billing: organization.billing,
    admission,
    model,
    generation,
    stream: false,
    signal,
  })
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
