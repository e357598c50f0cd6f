import type { Pricing } from '../../config/model-details.ts'
import type { ServedTier, Usage } from '../../domain/generation/events.ts'
import type { Generation, Message, Operation, Part } from '../../domain/generation/request.ts'
import { formatUsd, type Nanos } from '../../lib/usd.ts'
import type { Model } from '../models/model.ts'

/** Anthropic charges twice the input price for a cache write that is stored for an hour. */
export const longWriteFactor = 2

/** The exact cost of a request, rounded once, half up. `images` is the number of images in the prompt. */
export function costOf(usage: Usage, pricing: Pricing, images = 0): Nanos {
  const prices = pricesFor(usage.promptTokens, pricing)
  const input = prices.input ?? 0
  const { cached, written, long, audio } = partsOfPrompt(usage)
  const millionths =
    product(usage.promptTokens - cached - written - audio, input) +
    product(audio, prices.input_audio ?? input) +
    product(cached, prices.cache_read ?? input) +
    product(written - long, prices.cache_write ?? input) +
    product(long, input * longWriteFactor) +
    product(usage.completionTokens, prices.output ?? 0)
  return (millionths + 500_000n) / 1_000_000n + fixedCost(prices, images)
}

/** The cost of the call whatever its tokens are: almost no model has such a price. */
function fixedCost({ request = 0, image = 0 }: Pricing, images: number): bigint {
  return request === 0 && image === 0 ? 0n : toNanos(request) + toNanos(image) * BigInt(images)
}

/**
 * The prompt tokens with a price of their own: never more than the prompt has, whatever was reported. No provider reports
 * how many of the cached tokens are audio: those that need not be are not.
 */
function partsOfPrompt(usage: Usage) {
  const { promptTokens, cachedTokens = 0, cacheWriteTokens = 0, longCacheWriteTokens = 0 } = usage
  const cached = Math.min(cachedTokens, promptTokens)
  const written = Math.min(cacheWriteTokens, promptTokens - cached)
  const audio = Math.min(usage.promptAudioTokens ?? 0, promptTokens - cached - written)
  return { cached, written, long: Math.min(longCacheWriteTokens, written), audio }
}

/** `0.000123456`, the amount in USD. */
export function toDollars(amount: Nanos): string {
  return formatUsd(amount, 9)
}

/** The prices with those of the highest tier that the prompt exceeds. */
export function pricesFor(promptTokens: number, pricing: Pricing): Pricing {
  if (pricing.tiers === undefined) return pricing
  const exceeded = pricing.tiers.filter(({ above }) => promptTokens > above)
  const [highest] = exceeded.toSorted((one, other) => other.above - one.above)
  return highest === undefined ? pricing : { ...pricing, ...highest }
}

/** Tokens times a price in USD per million, in millionths of a nano-dollar. */
function product(tokens: number, price: number): bigint {
  return tokens === 0 ? 0n : BigInt(tokens) * toNanos(price)
}

/** USD to nano-dollars. Rounds away the binary fraction of a price such as 0.1. */
function toNanos(dollars: number): bigint {
  return BigInt(Math.round(dollars * 1e9))
}

/** The properties of a call on which its price depends. */
export type PricedCall = { readonly model: Model; readonly generation: Generation }

/**
 * The prices of the tier that served the call. A provider that reports no tier with a price is assumed to
 * have served the requested one. Undefined for a model without a price.
 */
export function pricingOf({ model, generation }: PricedCall, servedTier?: ServedTier): Pricing | undefined {
  const priority = servedTier === 'priority' || (servedTier == null && generation.serviceTier === 'priority')
  return (priority ? priorityPricing(model) : undefined) ?? model.pricing
}

/** The prices of the model's priority tier; undefined if they do not cover a complete call. */
export function priorityPricing({ fast }: Pick<Model, 'fast'>): Pricing | undefined {
  return fast?.strategy === 'service_tier' && hasCost(fast.pricing) ? fast.pricing : undefined
}

/**
 * Whether the pricing covers a complete call: with only one of input and output, the other would be free. Embeddings
 * have no output.
 */
export function hasCost(pricing: Pricing | undefined, operation?: Operation): pricing is Pricing {
  if (pricing === undefined) return false
  if (pricing.request !== undefined) return true
  return pricing.input !== undefined && (pricing.output !== undefined || operation === 'embedding')
}

/**
 * Whether the caller asks for a cache that is stored for an hour, for example with the `cache_control`
 * `{"type": "ephemeral", "ttl": "1h"}` of a part, a message, a tool or the request.
 */
export function requestsLongCache({ source, extras, messages }: Generation): boolean {
  if (source !== undefined) return hasLongMarker(source.body)
  return hasLongMarker(extras) || messages.some(isMarked)
}

/**
 * The usage with its cache writes as writes for an hour, where such were requested and the provider does not report how
 * long they are stored.
 */
export function withLongWrites(usage: Usage, generation: Generation): Usage {
  const { cacheWriteTokens = 0, longCacheWriteTokens } = usage
  if (cacheWriteTokens === 0 || longCacheWriteTokens !== undefined) return usage
  return requestsLongCache(generation) ? { ...usage, longCacheWriteTokens: cacheWriteTokens } : usage
}

function isMarked({ extras, parts }: Message): boolean {
  return hasLongMarker(extras) || parts.some(isMarkedPart)
}

function isMarkedPart(part: Part): boolean {
  return hasLongMarker(part.type === 'foreign' ? part.value : part.extras)
}

/** Some routers have properties beside `cache_control` that begin like it. */
function hasLongMarker(value: unknown): boolean {
  return someProperty(value, (name, child) =>
    name.startsWith('cache_control') ? hasLongLifetime(child) : hasLongMarker(child),
  )
}

function hasLongLifetime(value: unknown): boolean {
  return someProperty(value, (name, child) =>
    name === 'ttl' ? typeof child === 'string' && child !== '5m' : hasLongLifetime(child),
  )
}

function someProperty(value: unknown, matches: (name: string, child: unknown) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, child]) => matches(name, child))
}
