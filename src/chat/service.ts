import { createAnswerFold } from '../generation/answer.ts'
import type { Answering } from '../gateway/answering.ts'
import { fastServiceOf } from '../gateway/fast-mode.ts'
import { fit } from '../gateway/fit.ts'
import type { Gateway } from '../gateway/generate.ts'
import type { Models } from '../gateway/model.ts'
import type { Nanos } from '../gateway/price.ts'
import { requireModel } from '../gateway/require-model.ts'
import { factsOf, type ReplyFacts } from './facts.ts'
import { lower } from './lower.ts'
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

/** Who asks, and how the answer ends when they leave. */
export type Asker = { readonly organization: string; readonly signal: AbortSignal }

export type ChatService = {
  /** The whole completion, and its price where the model has one. */
  complete(request: ChatRequest, asker: Asker): Promise<Completed>
  /** The frames of a streamed completion; resolves when the answer has begun. */
  stream(request: ChatRequest, asker: Asker): Promise<AsyncGenerator<string>>
}

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
      return frames(answering, facts, request.stream_options?.include_usage === true)
    },
  }
}

type Begun = { readonly answering: Answering; readonly facts: ReplyFacts }

async function begin(request: ChatRequest, asker: Asker, parts: ChatServiceParts): Promise<Begun> {
  const models = parts.models()
  const model = requireModel(models, request.model)
  const lowered = lower(request)
  const fast = request.performance_mode === 'fast' ? fastServiceOf(models, model) : undefined
  const serving = fast?.model ?? model
  const warnings = [...lowered.warnings]
  const warn = (sentence: string) => void warnings.push(sentence)
  const fitted = fit(lowered.generation, serving, {
    unsupported: parts.unsupported,
    names: lowered.names,
    warn,
  })
  const generation = fast?.serviceTier ? { ...fitted, serviceTier: fast.serviceTier } : fitted
  const stream = request.stream === true
  const answering = await parts.gateway.generate({ ...asker, model: serving, generation, stream })
  const facts = factsOf({
    model: model.slug,
    provider: answering.provider,
    performanceMode: fast ? 'fast' : 'standard',
    warnings: [...warnings, ...answering.warnings],
  })
  return { answering, facts }
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

async function* frames(answering: Answering, facts: ReplyFacts, usageAsked: boolean): AsyncGenerator<string> {
  const renderer = new ChunkRenderer(facts, usageAsked)
  for await (const batch of answering.events) {
    const text = renderer.chunks(batch)
    if (text !== '') yield text
  }
  const usage = answering.usage()
  if (usageAsked) yield renderer.usage(usage, usage.estimated ? [estimatedUsage] : [])
  yield done
}
