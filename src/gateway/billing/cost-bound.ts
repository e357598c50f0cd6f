import type { Pricing } from '../../config/model-details.ts'
import type { Usage } from '../../domain/generation/events.ts'
import {
  callsOfModel,
  defaultMaxTokens,
  type Generation,
  promptCount,
  totalChoices,
} from '../../domain/generation/request.ts'
import { billingNotConfigured } from '../../lib/errors/errors.ts'
import type { Nanos } from '../../lib/usd.ts'
import type { Payer } from '../access/caller-limits.ts'
import type { Provider } from '../../providers/provider.ts'
import type { Model } from '../models/model.ts'
import { kindFor } from '../models/serving-routes.ts'
import { countImages, estimatePromptTokens } from './estimate.ts'
import { costOf, hasCost, longWriteFactor, pricingOf, priorityPricing, requestsLongCache } from './price.ts'
import { maxPromptTokens, type PromptModel } from './prompt-tokens.ts'

/** The bounds on the cost of a call before it runs. */
export type CostBound = {
  /** An estimate of the prompt. */
  readonly promptTokens: number
  /** The cost of the prompt alone, and the maximum cost of the call. */
  readonly promptCost: Nanos
  readonly maxCost: Nanos
}

/**
 * The maximum tokens of all choices together, reasoning included; 0 for embeddings. `defaultMax` is that of a choice which
 * neither the request nor the model bounds.
 */
export function maxAnswerTokens(
  generation: Generation,
  model: Pick<Model, 'maxOutputTokens' | 'routes'>,
  defaultMax: number = defaultMaxTokens,
): number {
  if (generation.operation === 'embedding') return 0
  const maxPerChoice = requestedMax(generation, model) ?? model.maxOutputTokens ?? defaultMax
  return maxPerChoice * totalChoices(generation) * callsOfModel(generation)
}

/** The maximum that the request sets, as the protocol of one of the routes may raise it. */
function requestedMax(generation: Generation, { routes }: Pick<Model, 'routes'>): number | undefined {
  const { maxTokens } = generation
  if (maxTokens === undefined) return undefined
  return Math.max(maxTokens, ...routes.map(({ provider }) => minOutputTokens(provider, generation)))
}

function minOutputTokens({ kind }: Provider, generation: Generation): number {
  return ('protocol' in kind ? kindFor(kind, generation).protocol.minOutputTokens : undefined) ?? 0
}

/**
 * Throws the 402 of a request with tools that the provider runs and charges for: no price bounds what they cost, so neither
 * a prepaid organization nor a key with a budget can use them.
 */
export function requirePayable({ providerTools }: Generation, { billing, budgets }: Payer): void {
  if (providerTools === undefined || (billing !== 'prepaid' && budgets.length === 0)) return
  const tool = providerTools.find(({ hosted }) => hosted)
  if (tool === undefined) return
  const payer = billing === 'prepaid' ? 'a prepaid organization' : 'a key with a budget'
  throw billingNotConfigured(`The tool ${tool.name} has no price, so ${payer} cannot use it.`)
}

/**
 * The cost bound of a call with about this many prompt tokens; undefined if the model has no price. `attempts` is the
 * number of routes that may charge for it.
 */
export function costBoundOf(
  generation: Generation,
  model: Model,
  promptTokens: number,
  attempts = 1,
): CostBound | undefined {
  const pricing = pricingOf({ model, generation })
  const { operation } = generation
  if (!hasCost(pricing, operation) || !hasCost(model.pricing, operation)) return undefined
  const images = countImages(generation)
  const maxUsage = {
    promptTokens: maxPromptTokens(generation, model),
    completionTokens: maxAnswerTokens(generation, model),
  }
  const priority = generation.serviceTier === 'priority' ? priorityPricing(model) : undefined
  const highest = highestPrices([model.pricing, priority], maxUsage.promptTokens, {
    longWrites: mayUseLongCache(generation),
    audio: mayHaveAudio(generation),
  })
  return {
    promptTokens,
    promptCost: costOf({ promptTokens, completionTokens: 0 }, pricing, images),
    maxCost: costOf(maxUsage, highest, images) * BigInt(attempts),
  }
}

/**
 * The highest of each price that can apply to a prompt of at most that many tokens, whichever of its tokens
 * are cached.
 */
function highestPrices(
  pricings: readonly (Pricing | undefined)[],
  promptTokens: number,
  { longWrites, audio }: { readonly longWrites: boolean; readonly audio: boolean },
): Pricing {
  const highest = { input: 0, output: 0, cache_write: 0, cache_read: 0, input_audio: 0, request: 0, image: 0 }
  for (const pricing of pricings) {
    if (pricing === undefined) continue
    raise(highest, pricing)
    for (const tier of pricing.tiers ?? noTiers) if (tier.above < promptTokens) raise(highest, tier)
  }
  const { input, output, cache_write, cache_read, input_audio, request, image } = highest
  return {
    input: Math.max(
      input * (longWrites ? longWriteFactor : 1),
      cache_write,
      cache_read,
      audio ? input_audio : 0,
    ),
    output,
    request,
    image,
  }
}

const noTiers: NonNullable<Pricing['tiers']> = []

type Prices = Record<Exclude<keyof Pricing, 'tiers'>, number>

/** Raises each price to that of the pricing, where that is higher. */
function raise(highest: Prices, pricing: Partial<Prices>): void {
  highest.input = Math.max(highest.input, pricing.input ?? 0)
  highest.output = Math.max(highest.output, pricing.output ?? 0)
  highest.cache_write = Math.max(highest.cache_write, pricing.cache_write ?? 0)
  highest.cache_read = Math.max(highest.cache_read, pricing.cache_read ?? 0)
  highest.input_audio = Math.max(highest.input_audio, pricing.input_audio ?? 0)
  highest.request = Math.max(highest.request, pricing.request ?? 0)
  highest.image = Math.max(highest.image, pricing.image ?? 0)
}

/** A provider that receives the request as the caller wrote it reports itself how long its writes are stored. */
function mayUseLongCache(generation: Generation): boolean {
  const { source, operation } = generation
  return (operation === undefined && source !== undefined) || requestsLongCache(generation)
}

/** Files and data URLs in the place of images can be audio as well. */
function mayHaveAudio({ messages }: Generation): boolean {
  return messages.some(({ parts }) => parts.some(({ type }) => type !== 'text'))
}

/** The properties of a model that metering needs. */
type MeteredModel = PromptModel & Pick<Model, 'maxOutputTokens' | 'reasoning'>

/** The request whose tokens are counted. */
export type MeteredRequest = {
  readonly generation: Generation
  readonly model: MeteredModel
  readonly stream: boolean
}

/** Assumed where the context window is unknown: a provider may add that much to any prompt. */
const minContextWindow = 8192
/** For the answer, where nothing bounds it. */
const maxUnboundedTokens = 1_000_000

/** The usage with each count clamped to the maximum that the request could use. */
export function clampUsage(usage: Usage, generation: Generation, model: MeteredModel): Usage {
  const maxCompletion = maxAnswerTokens(generation, model, model.contextWindow ?? maxUnboundedTokens)
  const maxPrompt = maxPromptFor(usage.promptTokens, generation, model)
  if (usage.promptTokens <= maxPrompt && usage.completionTokens <= maxCompletion) return usage
  const completionTokens = Math.min(usage.completionTokens, maxCompletion)
  return {
    ...usage,
    promptTokens: Math.min(usage.promptTokens, maxPrompt),
    completionTokens,
    reasoningTokens: usage.reasoningTokens && Math.min(usage.reasoningTokens, completionTokens),
  }
}

/**
 * The maximum prompt tokens. A plausible count is its own limit, so that the prompt is measured only for an
 * implausible one.
 */
function maxPromptFor(reported: number, generation: Generation, model: MeteredModel): number {
  if (model.contextWindow !== undefined) return model.contextWindow * promptCount(generation)
  if (reported <= minContextWindow || reported <= estimatePromptTokens(generation)) return reported
  return Math.max(minContextWindow, maxPromptTokens(generation, model))
}
