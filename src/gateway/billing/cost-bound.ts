import type { Pricing } from '../../config/model-facts.ts'
import type { Generation, Message } from '../../domain/generation/request.ts'
import type { Model } from '../models/model.ts'
import { imagesIn } from './estimate.ts'
import { costOf, hasCost, longWriteFactor, type Nanos, pricingOf, priorityPricing } from './price.ts'
import { maxPromptTokens } from './prompt-tokens.ts'

/** What a call will take, as far as it can be known before. */
export type CostBound = {
  /** An estimate. */
  readonly promptTokens: number
  /** The price of the prompt alone, and the most that the call can cost. */
  readonly promptCost: Nanos
  readonly maxCost: Nanos
}

/** In tokens; where neither the request nor the model says how long an answer can get. */
const defaultMaxAnswerTokens = 32_768

/** The most tokens of all answers together, reasoning included. */
export function maxAnswerTokens(generation: Generation, model: Pick<Model, 'maxOutputTokens'>): number {
  return (generation.maxTokens ?? model.maxOutputTokens ?? defaultMaxAnswerTokens) * (generation.choices ?? 1)
}

/** What the call can cost, for a prompt of about so many tokens; undefined where the model has no price. */
export function costBoundOf(
  generation: Generation,
  model: Model,
  promptTokens: number,
): CostBound | undefined {
  const pricing = pricingOf({ model, generation })
  if (!hasCost(pricing) || !hasCost(model.pricing)) return undefined
  const images = imagesIn(generation)
  const maxUsage = {
    promptTokens: maxPromptTokens(generation, model),
    completionTokens: maxAnswerTokens(generation, model),
  }
  const priority = generation.serviceTier === 'priority' ? priorityPricing(model) : undefined
  const highest = highestPrices([model.pricing, priority], maxUsage.promptTokens, mayUseLongCache(generation))
  return {
    promptTokens,
    promptCost: costOf({ promptTokens, completionTokens: 0 }, pricing, images),
    maxCost: costOf(maxUsage, highest, images),
  }
}

/** The highest of each price that can apply to a prompt of at most so many tokens, wherever its tokens come from. */
function highestPrices(
  pricings: readonly (Pricing | undefined)[],
  promptTokens: number,
  longWrites: boolean,
): Pricing {
  const applicable = pricings.flatMap((pricing) =>
    pricing ? [pricing, ...(pricing.tiers ?? []).filter(({ above }) => above < promptTokens)] : [],
  )
  const highest = (name: PriceName) => Math.max(0, ...applicable.map((prices) => prices[name] ?? 0))
  const input = highest('input')
  return {
    input: Math.max(
      input * (longWrites ? longWriteFactor : 1),
      highest('cache_write'),
      highest('cache_read'),
    ),
    output: highest('output'),
    request: highest('request'),
    image: highest('image'),
  }
}

type PriceName = Exclude<keyof Pricing, 'tiers'>

/** Only a mark of the caller's own, beside the fields that the interface names, has a provider cache for an hour. */
function mayUseLongCache({ messages, extras }: Generation): boolean {
  return Object.keys(extras).length > 0 || messages.some(hasExtras)
}

function hasExtras({ extras, parts }: Message): boolean {
  return extras !== undefined || parts.some((part) => part.type !== 'foreign' && part.extras !== undefined)
}
