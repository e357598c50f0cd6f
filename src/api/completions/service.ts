import { AnswerAccumulator } from '../../domain/generation/answer.ts'
import type { GenerationEvent } from '../../domain/generation/events.ts'
import { joinWarnings } from '../../domain/generation/warnings.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import type { Models } from '../../gateway/models/models.ts'
import { type PreparedGeneration, prepareGeneration } from '../../gateway/models/prepare-generation.ts'
import { doneFrame } from '../../http/data-frames.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import { recordUnprepared } from '../../http/record-rejected.ts'
import { type RequestContext, requestMetadata } from '../../http/request-context.ts'
import type { Nanos } from '../../lib/usd.ts'
import { lower } from './lower.ts'
import { ChunkRenderer, renderCompletion, type ReplyMetadata, replyMetadata } from './render.ts'
import type { Completion } from './reply-schema.ts'
import type { CompletionRequest } from './schema.ts'

export type TextCompletionDependencies = {
  readonly gateway: Gateway
  readonly models: () => Models
  readonly unsupported: 'reject' | 'drop'
}

export type TextCompletionService = {
  /** Resolves with the complete completion, and with its cost where the model has a price. */
  complete(
    request: CompletionRequest,
    context: RequestContext,
  ): Promise<{ readonly completion: Completion; readonly cost: Nanos | undefined }>
  /** Resolves when the answer begins, with a source of frames that is still to be read. */
  stream(request: CompletionRequest, context: RequestContext): Promise<StreamedCompletion>
}

export type StreamedCompletion = Pick<FrameSource<readonly GenerationEvent[]>, 'items' | 'frames' | 'end'>

/** Serves completions of prompts. */
export function createTextCompletionService(service: TextCompletionDependencies): TextCompletionService {
  return {
    async complete(request, context) {
      const { stream, metadata } = await start(request, context, service)
      const answer = new AnswerAccumulator()
      await stream.forEach((batch) => answer.add(batch))
      return { completion: renderCompletion(answer.answer(), stream.usage(), metadata), cost: stream.cost() }
    },
    async stream(request, context) {
      const { stream, metadata } = await start(request, context, service)
      const renderer = new ChunkRenderer(metadata, request.stream_options?.include_usage === true)
      return {
        items: stream,
        frames: (batch) => renderer.chunks(batch),
        end: () => (renderer.includeUsage ? renderer.usage(stream.usage()) : '') + doneFrame,
      }
    },
  }
}

async function start(
  request: CompletionRequest,
  context: RequestContext,
  service: TextCompletionDependencies,
): Promise<{ readonly stream: GenerationStream; readonly metadata: ReplyMetadata }> {
  const prepared = await prepare(request, context, service)
  const { slug, model, generation } = prepared
  const { organization, admission, signal } = context
  const stream = await service.gateway.generate({
    metadata: requestMetadata(request, context, 'completions', slug),
    billing: organization.billing,
    admission,
    model,
    generation,
    stream: request.stream === true,
    signal,
  })
  const warnings = joinWarnings(prepared.warnings, stream.warnings)
  return { stream, metadata: replyMetadata({ model: slug, provider: stream.provider, warnings }) }
}

async function prepare(
  request: CompletionRequest,
  context: RequestContext,
  service: TextCompletionDependencies,
): Promise<PreparedGeneration> {
  const { models, unsupported } = service
  try {
    return prepareGeneration(request, lower, { api: 'completions', models: models(), unsupported })
  } catch (error) {
    await recordUnprepared(error, request, context, 'completions', service)
    throw error
  }
}
