import { AnswerAccumulator } from '../../domain/generation/answer.ts'
import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import {
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../gateway/models/prepare-generation.ts'
import { doneFrame, type FrameSource } from '../../http/event-stream.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Nanos } from '../../lib/usd.ts'
import { type GenerationDependencies, startGeneration } from '../generate.ts'
import { lower } from './lower.ts'
import { ChunkRenderer, renderCompletion, type ReplyMetadata, replyMetadata } from './render.ts'
import type { Completion } from './reply-schema.ts'
import type { CompletionRequest } from './schema.ts'

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
export function createTextCompletionService(service: GenerationDependencies): TextCompletionService {
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
  service: GenerationDependencies,
): Promise<{ readonly stream: GenerationStream; readonly metadata: ReplyMetadata }> {
  const prepare = () => prepareCompletion(request, service)
  const { stream, warnings, prepared } = await startGeneration(
    'completions',
    request,
    context,
    prepare,
    service,
  )
  return { stream, metadata: replyMetadata({ model: prepared.slug, provider: stream.provider, warnings }) }
}

function prepareCompletion(
  request: CompletionRequest,
  { models: current, unsupported }: GenerationDependencies,
): PreparedGeneration {
  const [api, models] = ['completions', current()] as const
  const requested = requestedModel(models, request.model, api)
  return prepareGeneration(requested, lower(request), { api, models, unsupported })
}
