import { AnswerAccumulator } from '../../domain/generation/answer.ts'
import type { GenerationEvent } from '../../domain/generation/events.ts'
import type { Generation } from '../../domain/generation/request.ts'
import type { GenerationStream } from '../../gateway/generate-request.ts'
import type { Models } from '../../gateway/models/models.ts'
import {
  type LoweredRequest,
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../gateway/models/prepare-generation.ts'
import { doneFrame, type FrameSource } from '../../http/event-stream.ts'
import { toInputs } from '../../http/inputs.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import { fieldsBeside } from '../../lib/json/json.ts'
import type { Nanos } from '../../lib/usd.ts'
import { type GenerationDependencies, startGeneration } from '../generate.ts'
import { ChunkRenderer, renderCompletion, type ReplyMetadata, replyMetadata } from './render.ts'
import { type Completion, type CompletionRequest, knownProperties } from './schema.ts'

/** Completes the prompts of a request; resolves with the cost, too, where the model has a price. */
export async function completePrompts(
  request: CompletionRequest,
  context: RequestContext,
  dependencies: GenerationDependencies,
): Promise<{ readonly completion: Completion; readonly cost: Nanos | undefined }> {
  const { stream, metadata } = await start(request, context, dependencies)
  const answer = new AnswerAccumulator()
  await stream.forEach((batch) => answer.add(batch))
  return { completion: renderCompletion(answer.answer(), stream.usage(), metadata), cost: stream.cost() }
}

/** Resolves when the answer begins, with a source of frames that is still to be read. */
export async function streamPrompts(
  request: CompletionRequest,
  context: RequestContext,
  dependencies: GenerationDependencies,
): Promise<Pick<FrameSource<readonly GenerationEvent[]>, 'items' | 'frames' | 'end'>> {
  const { stream, metadata } = await start(request, context, dependencies)
  const renderer = new ChunkRenderer(metadata, request.stream_options?.include_usage === true)
  return {
    items: stream,
    frames: (batch) => renderer.chunks(batch),
    end: () => (renderer.includeUsage ? renderer.usage(stream.usage()) : '') + doneFrame,
  }
}

async function start(
  request: CompletionRequest,
  context: RequestContext,
  dependencies: GenerationDependencies,
): Promise<{ readonly stream: GenerationStream; readonly metadata: ReplyMetadata }> {
  const prepare = (models: Models) => prepareCompletion(request, models, dependencies)
  const received = { api: 'completions', labels: request, context } as const
  const started = await startGeneration(received, prepare, dependencies)
  const { stream, warnings, prepared } = started
  return { stream, metadata: replyMetadata({ model: prepared.slug, provider: stream.provider, warnings }) }
}

function prepareCompletion(
  request: CompletionRequest,
  models: Models,
  { unsupported }: Pick<GenerationDependencies, 'unsupported'>,
): PreparedGeneration {
  const api = 'completions'
  const requested = requestedModel(models, request.model, api)
  return prepareGeneration(requested, lower(request), { api, models, unsupported })
}

/** For all prompts together. */
const maxChoices = 128
/** As in OpenAI's API; some engines would generate without an end. */
const defaultMaxTokens = 16

/** Lowers a completion request; throws the 400 of one with too many prompts or choices. */
function lower(request: CompletionRequest): LoweredRequest {
  const inputs = toInputs(request.prompt, 'prompt', maxChoices)
  // A provider generates, and charges, the choices of which it returns the best.
  const choices = Math.max(request.n ?? 1, request.best_of ?? 1)
  checkChoices(choices, inputs.length, request)
  const generation: Generation = {
    operation: 'completion',
    inputs,
    suffix: request.suffix ?? undefined,
    messages: [],
    tools: [],
    maxTokens: request.max_tokens ?? defaultMaxTokens,
    choices: choices === 1 ? undefined : choices,
    stop: lowerStop(request.stop),
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    seed: request.seed ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    logitBias: request.logit_bias ?? undefined,
    user: request.user ?? undefined,
    source: { protocol: 'openai-completions', body: request },
    extras: fieldsBeside(knownProperties, request) ?? {},
  }
  return { generation, names: {}, warnings: [] }
}

function checkChoices(choices: number, prompts: number, { n, best_of: bestOf }: CompletionRequest): void {
  if (choices * prompts <= maxChoices) return
  const param = (bestOf ?? 1) > (n ?? 1) ? 'best_of' : 'n'
  const message = `Invalid '${param}': the choices of all prompts together must be at most ${maxChoices}, not ${choices * prompts}.`
  throw badRequest(message, 'unsupported_value', param)
}

function lowerStop(stop: CompletionRequest['stop']): readonly string[] | undefined {
  const list = typeof stop === 'string' ? [stop] : (stop ?? [])
  return list.length === 0 ? undefined : list
}
