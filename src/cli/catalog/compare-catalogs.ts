import type { ModelDetails, Pricing } from '../../config/model-details.ts'
import { pricingAt } from '../../gateway/models/dated-prices.ts'
import type { ReadCatalog } from './read-catalog.ts'

/** A price that differs, in USD per million tokens, or per request or image; null where there is none. */
export type PriceDifference = {
  readonly price: string
  readonly from: number | null
  readonly to: number | null
  /** Prompt tokens above which it applies; 0 for every prompt. */
  readonly above: number
  /** The first day on which it applies; null: today. */
  readonly effective_from: string | null
}

/** Another fact that differs. */
export type FactDifference = {
  readonly fact: 'context_window' | 'max_output_tokens' | 'shutdown_date'
  readonly from: number | string | null
  readonly to: number | string
}

/** A difference of one model to the current catalog. */
export type ModelChange = {
  readonly slug: string
  readonly kind: 'added' | 'changed' | 'ended'
  readonly prices: readonly PriceDifference[]
  readonly facts: readonly FactDifference[]
  /** Why its prices, or its end, need the consent of the operator; null if they do not. */
  readonly held_back: string | null
  /** What the catalog changes without the consent, and with it. */
  readonly applied?: ModelDetails
  readonly accepted?: ModelDetails
}

/** Compares a source with the current catalog, in the order of the source. */
export function compareCatalogs(
  current: readonly ModelDetails[],
  { models, ended }: Pick<ReadCatalog, 'models' | 'ended'>,
  now: number,
): ModelChange[] {
  const known = new Map(current.map((model) => [model.slug, model]))
  const changes = models.flatMap((model) => {
    const before = known.get(model.slug)
    if (before !== undefined) return changedModel(before, model, now)
    return model.routes === undefined ? [] : [addedModel(model, now)]
  })
  const ends = [...ended].filter((slug) => known.has(slug)).map(endedModel)
  return [...changes, ...ends]
}

function endedModel(slug: string): ModelChange {
  const held_back = 'The source says that it is no longer served.'
  return { slug, kind: 'ended', prices: [], facts: [], held_back }
}

function addedModel(model: ModelDetails, now: number): ModelChange {
  const prices = priceDifferences({ slug: model.slug }, model, now)
  const isFree = prices.length > 0 && prices.every(({ to }) => to === 0)
  const held_back = isFree ? 'Its price is zero.' : null
  return {
    slug: model.slug,
    kind: 'added',
    prices,
    facts: [],
    held_back,
    accepted: model,
    ...(!isFree && { applied: model }),
  }
}

/** Only prices, sizes and the end of a known model change: how it is called is known better. */
function changedModel(before: ModelDetails, model: ModelDetails, now: number): ModelChange[] {
  const { slug } = before
  const priced = withPrices(before, model, now)
  const prices = priceDifferences(before, priced, now)
  const facts = factDifferences(before, model)
  if (prices.length === 0 && facts.length === 0) return []
  const held_back = prices.map(reasonToHold).find((reason) => reason !== null) ?? null
  const factPatch = { slug, ...Object.fromEntries(facts.map(({ fact, to }) => [fact, to])) }
  const { pricing, price_changes } = priced
  const pricePatch = prices.length > 0 && { pricing, ...(price_changes && { price_changes }) }
  const accepted = { ...factPatch, ...pricePatch }
  const applied = held_back === null ? accepted : facts.length > 0 && factPatch
  return [{ slug, kind: 'changed', prices, facts, held_back, accepted, ...(applied && { applied }) }]
}

/** The prices of the source over those of today. What the source does not name stays; so do announced changes. */
function withPrices(before: ModelDetails, model: ModelDetails, now: number): ModelDetails {
  const pricing = { ...pricingAt(before, now), ...pricingAt(model, now) }
  const later = (model.price_changes ?? before.price_changes ?? []).filter(
    ({ effective_from }) => Date.parse(effective_from) > now,
  )
  const hadChanges = before.price_changes !== undefined || later.length > 0
  return { slug: before.slug, pricing, ...(hadChanges && { price_changes: later }) }
}

function factDifferences(before: ModelDetails, after: ModelDetails): FactDifference[] {
  return (['context_window', 'max_output_tokens', 'shutdown_date'] as const).flatMap((fact) => {
    const [from, to] = [before[fact] ?? null, after[fact]]
    return to === undefined || from === to ? [] : [{ fact, from, to }]
  })
}

/** Prices that are not named cost as much as others: cached tokens as much as the rest of the prompt. */
const fallbacks: Readonly<Record<string, 'input'>> = { cache_read: 'input', cache_write: 'input' }
const priceNames = ['input', 'output', 'cache_read', 'cache_write', 'request', 'image'] as const

/** Every price at every day and size of the prompt at which one of the two changes. */
function priceDifferences(before: ModelDetails, after: ModelDetails, now: number): PriceDifference[] {
  const later = [...(before.price_changes ?? []), ...(after.price_changes ?? [])]
    .map(({ effective_from }) => effective_from)
    .filter((day) => Date.parse(day) > now)
  const days = [null, ...[...new Set(later)].toSorted()]
  const seen = new Set<string>()
  return days.flatMap((day) => {
    const time = day === null ? now : Date.parse(day)
    const [old, next] = [pricingAt(before, time), pricingAt(after, time)]
    const found = differencesOf(old, next).map((difference) => ({ ...difference, effective_from: day }))
    // What differs today differs as much on later days, and a price in longer prompts.
    return found.filter(({ price, from, to }) => {
      const name = `${price} ${from} ${to}`
      return !seen.has(name) && seen.add(name)
    })
  })
}

function differencesOf(old: Pricing | undefined, next: Pricing | undefined) {
  const sizes = [old, next].flatMap((pricing) => (pricing?.tiers ?? []).map(({ above }) => above))
  return [0, ...[...new Set(sizes)].toSorted((one, other) => one - other)].flatMap((above) => {
    const [from, to] = [pricesAbove(old, above), pricesAbove(next, above)]
    return priceNames
      .filter((price) => from[price] !== undefined || to[price] !== undefined)
      .map((price) => ({ price, from: priceOf(from, price), to: priceOf(to, price), above }))
      .filter(({ from, to }) => from !== to)
  })
}

function pricesAbove(pricing: Pricing | undefined, above: number): Pricing {
  const tiers = (pricing?.tiers ?? []).filter((tier) => tier.above <= above)
  return { ...pricing, ...tiers.toSorted((one, other) => one.above - other.above).at(-1) }
}

function priceOf(pricing: Pricing, price: (typeof priceNames)[number]): number | null {
  return pricing[price] ?? pricing[fallbacks[price] ?? price] ?? null
}

/** Only what raises a price at most twofold needs no consent. */
function reasonToHold({ price, from, to }: PriceDifference): string | null {
  if (to === null) return `${price} has no price.`
  if (from === null) return to === 0 ? `${price} is free.` : null
  if (to < from) return `${price} is lower.`
  return nanosOf(to) > 2 * nanosOf(from) ? `${price} is more than twice as high.` : null
}

/** Whole nano-dollars, as prices are charged. */
function nanosOf(price: number): number {
  return Math.round(price * 1e9)
}
