import { AnswerAccumulator } from '../../domain/generation/answer.ts'
import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import type { Models } from '../../gateway/models/models.ts'
import {
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../gateway/models/prepare-generation.ts'
import { estimatedUsageWarning } from '../../gateway/billing/meter.ts'
import { doneFrame } from '../../http/data-frames.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import type { Nanos } from '../../lib/usd.ts'
import { type GenerationDependencies, startGeneration } from '../generate.ts'
import { createCompletionRecorder } from './store-completion.ts'
import { lower } from './lower.ts'
import { renderCompletion, replyMetadata, type ReplyMetadata } from './render.ts'
import { ChunkRenderer } from './render-chunks.ts'
import type { ChatCompletion } from './reply-schema.ts'
import type { ChatRequest } from './schema.ts'

export type ChatServiceDependencies = GenerationDependencies & {
  /** Streams send the arguments of tool calls in fragments instead of complete calls. */
  readonly toolCallFragments: boolean
  /** Log probabilities are requested from providers and returned. */
  readonly logprobs: boolean
}

export type ChatService = {
  /** Resolves with the complete completion, and with its cost where the model has a price. */
  complete(request: ChatRequest, context: RequestContext): Promise<Completed>
  /** Resolves when the answer begins, with a source of frames that is still to be read. */
  stream(request: ChatRequest, context: RequestContext): Promise<StreamedCompletion>
}

export type StreamedCompletion = Pick<FrameSource<readonly GenerationEvent[]>, 'items' | 'frames' | 'end'>

export type Completed = { readonly completion: ChatCompletion; readonly cost: Nanos | undefined }

/** Serves chat completions. A completion with `store: true` is stored before the client receives its end. */
export function createChatService(parts: ChatServiceDependencies): ChatService {
  return {
    async complete(request, context) {
      const fold = new AnswerAccumulator()
      const { stream, metadata } = await start(request, context, fold, parts)
      await stream.forEach((batch) => fold.add(batch))
      const completion = renderCompletion(fold.answer(), stream.usage(), metadata)
      return { completion, cost: stream.cost() }
    },
    async stream(request, context) {
      // Only a completion that is stored has to be folded.
      const fold = request.store ? new AnswerAccumulator() : undefined
      const { stream, metadata } = await start(request, context, fold, parts)
      const includeUsage = request.stream_options?.include_usage === true
      return toFrameSource(stream, new ChunkRenderer(metadata, includeUsage, parts.toolCallFragments), fold)
    },
  }
}

type StartedCompletion = { readonly stream: GenerationStream; readonly metadata: ReplyMetadata }

/** Starts the generation. Where the request says `store: true`, its answer is stored from the fold when it ends. */
async function start(
  request: ChatRequest,
  context: RequestContext,
  fold: AnswerAccumulator | undefined,
  parts: ChatServiceDependencies,
): Promise<StartedCompletion> {
  const recorder =
    request.store && fold ? createCompletionRecorder(request, context.organization.id, fold) : undefined
  const prepare = () => prepareChat(request, parts.models(), parts)
  const started = await startGeneration('chat', request, context, prepare, parts, recorder?.onSettled)
  const { stream, warnings, prepared } = started
  const metadata = replyMetadata({
    model: prepared.slug,
    provider: stream.provider,
    performanceMode: prepared.performanceMode,
    logprobs: prepared.generation.logprobs !== undefined,
    warnings,
  })
  recorder?.onStarted(metadata)
  return { stream, metadata }
}

/** Prepares a chat request for the gateway; throws the 400 or 404 of a request that cannot be served. */
export function prepareChat(
  request: ChatRequest,
  models: Models,
  { unsupported, logprobs }: Pick<ChatServiceDependencies, 'unsupported' | 'logprobs'>,
): PreparedGeneration {
  const api = 'chat_completions'
  const requested = requestedModel(models, request.model, api)
  const fast = request.performance_mode === 'fast'
  return prepareGeneration(requested, lower(request, { logprobs }), { api, models, unsupported, fast })
}

function toFrameSource(
  stream: GenerationStream,
  renderer: ChunkRenderer,
  fold: AnswerAccumulator | undefined,
): StreamedCompletion {
  return {
    items: stream,
    frames(batch) {
      fold?.add(batch)
      return renderer.chunks(batch)
    },
    end() {
      if (!renderer.includeUsage) return doneFrame
      const usage = stream.usage()
      return renderer.usage(usage, usage.estimated ? [estimatedUsageWarning] : []) + doneFrame
    },
  }
}
