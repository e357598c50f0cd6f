import type { Embedding, GenerationEvent } from '../../domain/generation/events.ts'
import { joinWarnings } from '../../domain/generation/warnings.ts'
import { estimatedUsageWarning } from '../../gateway/billing/meter.ts'
import type { Models } from '../../gateway/models/models.ts'
import {
  type LoweredRequest,
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../gateway/models/prepare-generation.ts'
import { toInputs } from '../../http/inputs.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { fieldsBeside } from '../../lib/json/json.ts'
import type { Nanos } from '../../lib/usd.ts'
import { type GenerationDependencies, startGeneration } from '../generate.ts'
import { type EmbeddingRequest, knownProperties } from './schema.ts'

/** The reply as JSON in parts, and its cost where the model has a price. */
type EmbeddingResult = { readonly parts: readonly string[]; readonly cost: Nanos | undefined }

/** Embeds the inputs of a request. */
export async function embed(
  request: EmbeddingRequest,
  context: RequestContext,
  dependencies: GenerationDependencies,
): Promise<EmbeddingResult> {
  const prepare = (models: Models) => prepareEmbedding(request, models, dependencies)
  // An unknown property of this name selects no stream.
  const received = { api: 'embeddings', labels: { ...request, stream: false }, context } as const
  const started = await startGeneration(received, prepare, dependencies)
  const { stream, warnings, prepared } = started
  const embeddings: Embedding[] = []
  await stream.forEach((batch) => collect(batch, embeddings))
  const usage = stream.usage()
  const parts = renderEmbeddings({
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
}

function prepareEmbedding(
  request: EmbeddingRequest,
  models: Models,
  { unsupported }: Pick<GenerationDependencies, 'unsupported'>,
): PreparedGeneration {
  const api = 'embeddings'
  const requested = requestedModel(models, request.model, api)
  return prepareGeneration(requested, lower(request), { api, models, unsupported })
}

function collect(batch: readonly GenerationEvent[], embeddings: Embedding[]): void {
  for (const event of batch) if (event.type === 'embedding') embeddings[event.index] = event.embedding
}

/** Some providers ignore the dimensions silently. */
function dimensionWarnings(
  { dimensions, model }: EmbeddingRequest,
  first: Embedding | undefined,
): readonly string[] {
  const received = first?.dimensions ?? 0
  if (dimensions == null || received === dimensions) return []
  return [
    `The embeddings of ${model} have ${received} dimensions: \`dimensions\` was ignored by its provider.`,
  ]
}

/** As in OpenAI's API. */
const maxInputs = 2048

/** Lowers an embedding request; throws the 400 of one with too many inputs. */
function lower(request: EmbeddingRequest): LoweredRequest {
  const { dimensions, encoding_format: format } = request
  const generation = {
    operation: 'embedding' as const,
    inputs: toInputs(request.input, 'input', maxInputs),
    embedding: { format: format ?? ('float' as const), dimensions: dimensions ?? undefined },
    messages: [],
    tools: [],
    user: request.user ?? undefined,
    source: { protocol: 'openai-embeddings' as const, body: request },
    extras: fieldsBeside(knownProperties, request) ?? {},
  }
  return { generation, names: {}, warnings: [] }
}

/** The properties of a reply beside its embeddings. */
type EmbeddingReply = {
  /** By the index of the input. */
  readonly embeddings: readonly Embedding[]
  /** The slug of the requested model. */
  readonly model: string
  readonly provider: string
  readonly promptTokens: number
  readonly warnings: readonly string[]
}

/** The reply as JSON. Its embeddings are rendered already: a reply can be very long. */
function renderEmbeddings(reply: EmbeddingReply): readonly string[] {
  const parts = ['{"object":"list","data":[']
  for (const [index, { json }] of reply.embeddings.entries()) {
    parts.push(`${index === 0 ? '' : ','}{"object":"embedding","index":${index},"embedding":`, json, '}')
  }
  parts.push(`],${renderRest(reply).slice(1)}`)
  return parts
}

function renderRest({ model, provider, promptTokens, warnings }: EmbeddingReply): string {
  const optional = warnings.length > 0 ? { warnings } : {}
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens }
  return JSON.stringify({ model, usage, provider, ...optional })
}
