import { AnswerFold } from '../../domain/generation/answer.ts'
import type { GenerationEvent } from '../../domain/generation/events.ts'
import { joinWarnings } from '../../domain/generation/warnings.ts'
import type { Gateway, GenerationStream } from '../../gateway/gateway.ts'
import type { Models } from '../../gateway/models/model.ts'
import { estimatedUsageWarning } from '../../gateway/billing/meter.ts'
import type { Nanos } from '../../gateway/billing/price.ts'
import { type RequestContext, requestMetadata } from '../../http/request-context.ts'
import type { FrameSource } from '../../http/event-stream.ts'
import { replyMetadata, type ReplyMetadata } from './reply-metadata.ts'
import { createCompletionRecorder } from './store-completion.ts'
import { prepare, type Prepared } from './prepare.ts'
import { renderCompletion } from './render.ts'
import { ChunkRenderer, done } from './render-chunks.ts'
import type { ChatCompletion } from './reply-schema.ts'
import type { ChatRequest } from './schema.ts'

export type ChatServiceParts = {
  readonly gateway: Gateway
  readonly models: () => Models
  readonly unsupported: 'reject' | 'drop'
  /** Streams send the arguments of tool calls in fragments instead of whole calls. */
  readonly toolCallFragments: boolean
}

export type ChatService = {
  /** The whole completion, and its price where the model has one. */
  complete(request: ChatRequest, asker: RequestContext): Promise<Completed>
  /** A streamed completion, whose frames are still to be taken; resolves when the answer has begun. */
  stream(request: ChatRequest, asker: RequestContext): Promise<StreamedCompletion>
}

export type StreamedCompletion = Pick<FrameSource<readonly GenerationEvent[]>, 'items' | 'frames' | 'end'>

export type Completed = { readonly completion: ChatCompletion; readonly cost: Nanos | undefined }

/** Chat completions for any model behind the gateway. Those that are to be kept are, before their end is told. */
export function createChatService(parts: ChatServiceParts): ChatService {
  return {
    async complete(request, asker) {
      const fold = new AnswerFold()
      const { answering, facts } = await begin(request, asker, fold, parts)
      await answering.each((batch) => fold.add(batch))
      const completion = renderCompletion(fold.answer(), answering.usage(), facts)
      return { completion, cost: answering.cost() }
    },
    async stream(request, asker) {
      // Only what is kept has to be added up.
      const fold = request.store ? new AnswerFold() : undefined
      const { answering, facts } = await begin(request, asker, fold, parts)
      const usageAsked = request.stream_options?.include_usage === true
      return streamed(answering, new ChunkRenderer(facts, usageAsked, parts.toolCallFragments), fold)
    },
  }
}

type Begun = { readonly answering: GenerationStream; readonly facts: ReplyMetadata }

/** The answer adds up in the fold, from which it is kept where the request says so. */
async function begin(
  request: ChatRequest,
  asker: RequestContext,
  fold: AnswerFold | undefined,
  parts: ChatServiceParts,
): Promise<Begun> {
  let prepared: Prepared
  try {
    prepared = prepare(request, parts.models(), parts.unsupported)
  } catch (error) {
    await enter(error, request, asker, parts)
    throw error
  }
  const { model, generation, performanceMode, slug } = prepared
  const { organization, admission, signal } = asker
  const keeping = request.store && fold ? createCompletionRecorder(request, organization.id, fold) : undefined
  const answering = await parts.gateway.generate({
    facts: requestMetadata(request, asker, 'chat', slug),
    billing: organization.billing,
    admission,
    model,
    generation,
    stream: request.stream === true,
    onSettled: keeping?.ended,
    signal,
  })
  const warnings = joinWarnings(prepared.warnings, answering.warnings)
  const { provider } = answering
  const facts = replyMetadata({ model: slug, provider, performanceMode, warnings })
  keeping?.begun(facts)
  return { answering, facts }
}

/** A request that comes to nothing is in the books, too. */
function enter(
  error: unknown,
  request: ChatRequest,
  asker: RequestContext,
  { models, gateway }: ChatServiceParts,
): Promise<void> {
  const slug = models().find(request.model)?.slug
  asker.admission.enter()
  return gateway.recordRejected(requestMetadata(request, asker, 'chat', slug), error)
}

function streamed(
  answering: GenerationStream,
  renderer: ChunkRenderer,
  fold: AnswerFold | undefined,
): StreamedCompletion {
  return {
    items: answering,
    frames(batch) {
      fold?.add(batch)
      return renderer.chunks(batch)
    },
    end() {
      if (!renderer.usageAsked) return done
      const usage = answering.usage()
      return renderer.usage(usage, usage.estimated ? [estimatedUsageWarning] : []) + done
    },
  }
}
