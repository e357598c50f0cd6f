import type { SourceRequest } from '../../domain/generation/request.ts'
import { unsupportedSentence } from '../../domain/generation/warnings.ts'
import type { CallerLimits } from '../../gateway/access/caller-limits.ts'
import { estimatePromptTokens } from '../../gateway/billing/estimate.ts'
import { allowedModels } from '../../gateway/models/allowed-models.ts'
import type { Model } from '../../gateway/models/model.ts'
import type { Models } from '../../gateway/models/models.ts'
import {
  type PreparedGeneration,
  prepareGeneration,
  requestedModel,
} from '../../gateway/models/prepare-generation.ts'
import { countUpstream } from '../../gateway/streams/count-tokens.ts'
import type { Stopwatch } from '../../lib/time.ts'
import type { GenerationDependencies } from '../generate.ts'
import { lower, lowerPrompt, type MessageHeaders } from './lower.ts'
import type { CountTokensRequest, MessageRequest } from './schema.ts'

type PrepareDependencies = Pick<GenerationDependencies, 'models' | 'unsupported'>

/**
 * Prepares a request for the gateway; throws the 400 or 404 of a request that cannot be served. Every request has a
 * limit of tokens, which clients choose for the models they know: it is lowered to what this model generates.
 */
export function prepareMessage(
  request: MessageRequest,
  headers: MessageHeaders,
  models: Models,
  { unsupported }: Pick<PrepareDependencies, 'unsupported'>,
): PreparedGeneration {
  const api = 'messages'
  const requested = requestedModel(models, request.model, api)
  const prepared = prepareGeneration(requested, lower(request, headers), { api, models, unsupported })
  const { source, warnings } = selectBetas(prepared.generation.source, prepared.model)
  const selected = {
    ...prepared,
    generation: { ...prepared.generation, source },
    warnings: [...prepared.warnings, ...warnings],
  }
  return withLimit(withCompaction(selected))
}

/** Only Anthropic summarizes a conversation. Any other model receives it whole, and is called once. */
function withCompaction(prepared: PreparedGeneration): PreparedGeneration {
  const { generation, model, warnings } = prepared
  if (generation.compaction !== true || model.routes.some(speaksAnthropic)) return prepared
  const warning = unsupportedSentence({ what: 'Parameter', by: model.slug }, ['context_management.edits'])
  return {
    ...prepared,
    generation: { ...generation, compaction: undefined },
    warnings: [...warnings, warning],
  }
}

function speaksAnthropic({ provider: { kind } }: Model['routes'][number]): boolean {
  return 'protocol' in kind && kind.protocol.name === 'anthropic'
}

function withLimit(prepared: PreparedGeneration): PreparedGeneration {
  const { generation, model, warnings } = prepared
  const limit = model.maxOutputTokens
  if (limit === undefined || generation.maxTokens === undefined || generation.maxTokens <= limit)
    return prepared
  const warning = `${model.slug} generates at most ${limit} tokens; max_tokens was lowered to that.`
  return { ...prepared, generation: { ...generation, maxTokens: limit }, warnings: [...warnings, warning] }
}

type CountTokensCall = {
  readonly limits: Pick<CallerLimits, 'models'>
  readonly signal: AbortSignal
  /** Runs while the provider counts. */
  readonly stopwatch: Stopwatch
}

/**
 * Counts the tokens of a prompt with the provider of the model where it offers that, and estimates otherwise; throws the
 * 400, 403 or 404 of a request that cannot be served.
 */
export async function countTokens(
  request: CountTokensRequest,
  headers: MessageHeaders,
  { limits, ...call }: CountTokensCall,
  { models: current, unsupported }: PrepareDependencies,
): Promise<number> {
  const [api, models] = ['messages', allowedModels(current(), limits.models)] as const
  const requested = requestedModel(models, request.model, api)
  const lowered = lowerPrompt(request, headers)
  const { model, generation } = prepareGeneration(requested, lowered, { api, models, unsupported })
  return (await countUpstream(model, generation, call)) ?? estimatePromptTokens(generation)
}

/** The header that selects betas of Anthropic, separated by commas. */
const header = 'anthropic-beta'

/** In tokens. Anthropic charges a longer prompt at other prices, and only some models accept one without a beta. */
const standardContextWindow = 200_000

/** The source with the betas that the model is set up for, and a warning about the others. */
type SelectedBetas = {
  readonly source: SourceRequest | undefined
  readonly warnings: readonly string[]
}

/**
 * Removes the betas of a longer context, unless the settings of the model have one: neither its prices nor its context
 * window would cover the tokens beyond the standard one.
 */
function selectBetas(
  source: SourceRequest | undefined,
  { contextWindow = 0, slug }: Pick<Model, 'contextWindow' | 'slug'>,
): SelectedBetas {
  const betas = source?.headers?.[header]?.split(',').map((beta) => beta.trim()) ?? []
  const ignored = contextWindow > standardContextWindow ? [] : betas.filter(extendsContext)
  if (source === undefined || ignored.length === 0) return { source, warnings: [] }
  const { [header]: _, ...headers } = source.headers ?? {}
  const kept = betas.filter((beta) => !extendsContext(beta)).join(',')
  return {
    source: { ...source, headers: kept === '' ? headers : { ...headers, [header]: kept } },
    warnings: [unsupportedSentence({ what: 'Parameter', by: slug }, [...new Set(ignored)])],
  }
}

function extendsContext(beta: string): boolean {
  return /^context-\d+m-/i.test(beta)
}
