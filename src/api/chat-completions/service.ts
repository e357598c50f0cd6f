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
import { doneFrame, type FrameSource } from '../../http/event-stream.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Nanos } from '../../lib/usd.ts'
import { type GenerationDependencies, type StartedGeneration, startGeneration } from '../generate.ts'
import { type CompletionRecorder, createCompletionRecorder } from './stored-completions.ts'
import { lower } from './lower.ts'
import { ChunkRenderer, renderCompletion, replyMetadata, type ReplyMetadata } from './render.ts'
import type { ChatCompletion } from './reply-schema.ts'
import type { ChatRequest } from './schema.ts'

/** The dependencies of chat completions. */
export type ChatDependencies = GenerationDependencies & {
  /** Streams send the arguments of tool calls in fragments instead of complete calls. */
  readonly toolCallFragments: boolean
  /** Log probabilities are requested from providers and returned. */
  readonly logprobs: boolean
  /** Token counts have those that were written to a cache. */
  readonly cacheWriteTokens: boolean
}

/**
 * Resolves with the complete completion, and with its cost where the model has a price. A completion with `store: true` is
 * stored before the client receives its end.
 */
export async function completeChat(
  request: ChatRequest,
  context: RequestContext,
  parts: ChatDependencies,
): Promise<{ readonly completion: ChatCompletion; readonly cost: Nanos | undefined }> {
  const fold = new AnswerAccumulator()
  const recorder = recorderOf(request, context, fold)
  const started = await start(request, context, recorder, parts)
  const metadata = metadataOf(started, recorder, parts)
  await started.stream.forEach((batch) => fold.add(batch))
  const completion = renderCompletion(fold.answer(), started.stream.usage(), metadata)
  return { completion, cost: started.stream.cost() }
}

type StreamedCompletion = Pick<FrameSource<readonly GenerationEvent[]>, 'items' | 'frames' | 'end'>

/** Resolves when the answer begins, with a source of frames that is still to be read. Stores a completion in the same way. */
export async function streamChat(
  request: ChatRequest,
  context: RequestContext,
  parts: ChatDependencies,
): Promise<StreamedCompletion> {
  // Only a completion that is stored has to be folded.
  const fold = request.store ? new AnswerAccumulator() : undefined
  const recorder = fold && recorderOf(request, context, fold)
  const started = await start(request, context, recorder, parts)
  const metadata = metadataOf(started, recorder, parts)
  const includeUsage = request.stream_options?.include_usage === true
  const renderer = new ChunkRenderer(metadata, includeUsage, parts.toolCallFragments)
  return toFrameSource(started.stream, renderer, fold)
}

/** Stores the answer from the fold when it ends, where the request says `store: true`. */
function recorderOf(
  request: ChatRequest,
  { organization }: RequestContext,
  fold: AnswerAccumulator,
): CompletionRecorder | undefined {
  return request.store ? createCompletionRecorder(request, organization.id, fold) : undefined
}

function start(
  request: ChatRequest,
  context: RequestContext,
  recorder: CompletionRecorder | undefined,
  parts: ChatDependencies,
): Promise<StartedGeneration> {
  const prepare = (models: Models) => prepareChat(request, models, parts)
  const received = { api: 'chat', labels: request, context } as const
  return startGeneration(received, prepare, parts, recorder?.onSettled)
}

function metadataOf(
  { stream, warnings, prepared }: StartedGeneration,
  recorder: CompletionRecorder | undefined,
  { cacheWriteTokens }: ChatDependencies,
): ReplyMetadata {
  const metadata = replyMetadata({
    model: prepared.slug,
    provider: stream.provider,
    performanceMode: prepared.performanceMode,
    logprobs: prepared.generation.logprobs !== undefined,
    cacheWriteTokens,
    warnings,
  })
  recorder?.onStarted(metadata)
  return metadata
}

/** Prepares a chat request for the gateway; throws the 400 or 404 of a request that cannot be served. */
export function prepareChat(
  request: ChatRequest,
  models: Models,
  { unsupported, logprobs }: Pick<ChatDependencies, 'unsupported' | 'logprobs'>,
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
