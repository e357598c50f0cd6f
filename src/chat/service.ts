import { createAnswerFold } from '../generation/answer.ts'
import type { GenerationEvent } from '../generation/events.ts'
import type { Answering, Gateway } from '../gateway/gateway.ts'
import type { Admission } from '../gateway/limits/limits.ts'
import type { Models } from '../gateway/models/model.ts'
import type { Nanos } from '../gateway/money/price.ts'
import type { FrameSource } from '../http/event-stream.ts'
import type { Json } from '../lib/json.ts'
import type { Stopwatch } from '../lib/stopwatch.ts'
import type { Organization } from '../storage/organization.ts'
import type { RequestFacts } from '../storage/request-facts.ts'
import { factsOf, type ReplyFacts } from './facts.ts'
import { prepare, type Prepared } from './prepare.ts'
import { renderCompletion } from './render.ts'
import { ChunkRenderer, done } from './render-chunks.ts'
import { estimatedUsage } from './render-usage.ts'
import type { ChatCompletion } from './reply-schema.ts'
import type { ChatRequest } from './schema.ts'

export type ChatServiceParts = {
  readonly gateway: Gateway
  readonly models: () => Models
  readonly unsupported: 'reject' | 'drop'
}

/** Who asks and what they may use, how the answer ends when they leave, and what counts the wait for providers. */
export type Asker = {
  readonly requestId: string
  readonly organization: Organization
  readonly keyId: string
  readonly admission: Admission
  readonly signal: AbortSignal
  readonly upstream?: Stopwatch
}

export type ChatService = {
  /** The whole completion, and its price where the model has one. */
  complete(request: ChatRequest, asker: Asker): Promise<Completed>
  /** A streamed completion, whose frames are still to be taken; resolves when the answer has begun. */
  stream(request: ChatRequest, asker: Asker): Promise<StreamedCompletion>
}

export type StreamedCompletion = Pick<FrameSource<readonly GenerationEvent[]>, 'items' | 'frames' | 'end'>

export type Completed = { readonly completion: ChatCompletion; readonly cost: Nanos | undefined }

/** Chat completions for any model behind the gateway. */
export function createChatService(parts: ChatServiceParts): ChatService {
  return {
    async complete(request, asker) {
      const { answering, facts } = await begin(request, asker, parts)
      return completed(answering, facts)
    },
    async stream(request, asker) {
      const { answering, facts } = await begin(request, asker, parts)
      return streamed(answering, facts, request.stream_options?.include_usage === true)
    },
  }
}

type Begun = { readonly answering: Answering; readonly facts: ReplyFacts }

async function begin(request: ChatRequest, asker: Asker, parts: ChatServiceParts): Promise<Begun> {
  const prepared = await preparedOrEntered(request, asker, parts)
  const { model, generation, performanceMode, slug } = prepared
  const { organization, admission, signal, upstream } = asker
  const answering = await parts.gateway.generate({
    facts: entryOf(request, asker, slug),
    billing: organization.billing,
    admission,
    model,
    generation,
    stream: request.stream === true,
    signal,
    // A stream does not tell how long it waited.
    upstream: request.stream ? undefined : upstream,
  })
  const warnings = [...prepared.warnings, ...answering.warnings]
  const { provider } = answering
  return { answering, facts: factsOf({ model: slug, provider, performanceMode, warnings }) }
}

/** A request that comes to nothing is entered, too. */
async function preparedOrEntered(
  request: ChatRequest,
  asker: Asker,
  { models, unsupported, gateway }: ChatServiceParts,
): Promise<Prepared> {
  try {
    return prepare(request, models(), unsupported)
  } catch (error) {
    await gateway.turnedAway(entryOf(request, asker, models().find(request.model)?.slug), error)
    throw error
  }
}

/** What the usage of a request says of it. */
function entryOf(request: ChatRequest, asker: Asker, model: string | undefined): RequestFacts {
  return {
    id: asker.requestId,
    organization: asker.organization.id,
    key: asker.keyId,
    createdAt: Date.now(),
    api: 'chat',
    model,
    stream: request.stream === true,
    performanceMode: request.performance_mode ?? undefined,
    user: request.user ?? undefined,
    tags: request.tags ?? undefined,
    // It came as JSON.
    trace: (request.trace as Json | null | undefined) ?? undefined,
  }
}

async function completed(answering: Answering, facts: ReplyFacts): Promise<Completed> {
  const fold = createAnswerFold()
  for await (const batch of answering.events) batch.forEach(fold.add)
  const usage = answering.usage()
  const warnings = usage.estimated ? [...facts.warnings, estimatedUsage] : facts.warnings
  return {
    completion: renderCompletion(fold.answer(), usage, { ...facts, warnings }),
    cost: answering.cost(),
  }
}

function streamed(answering: Answering, facts: ReplyFacts, usageAsked: boolean): StreamedCompletion {
  const renderer = new ChunkRenderer(facts, usageAsked)
  return {
    items: answering.events,
    frames: (batch) => renderer.chunks(batch),
    end() {
      if (!usageAsked) return done
      const usage = answering.usage()
      return renderer.usage(usage, usage.estimated ? [estimatedUsage] : []) + done
    },
  }
}
