import type { ModelDetails, Pricing } from '../../config/model-details.ts'
import { hasCost, pricesFor } from '../../gateway/billing/price.ts'
import { pricingAt } from '../../gateway/models/dated-prices.ts'
import { mergeDetails } from '../../gateway/models/model-sources.ts'
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
  /** Why a part of it, or all of it, needs the consent of the operator; null if nothing does. */
  readonly held_back: string | null
  /** What the catalog changes without the consent, and with it. */
  readonly applied?: ModelDetails
  readonly accepted?: ModelDetails
}

/** What a source is compared with. */
export type KnownModels = {
  readonly current: readonly ModelDetails[]
  /** `models` of the settings file. */
  readonly settings: readonly ModelDetails[]
  /** The slugs of models whose removal was accepted. */
  readonly removed: readonly string[]
}

/** Compares a source with the current catalog, in the order of the source. Nothing that lowers a charge needs no consent. */
export function compareCatalogs(
  { models, ended }: Pick<ReadCatalog, 'models' | 'ended'>,
  known: KnownModels,
  now: number,
): ModelChange[] {
  const current = new Map(known.current.map((model) => [model.slug, model]))
  const reasonOfName = createNameCheck(known)
  const changes = models.flatMap((model) => {
    const before = current.get(model.slug)
    if (before !== undefined) return changedModel(before, model, entryOf(model.slug, known), now)
    return model.routes === undefined ? [] : [addedModel(model, reasonOfName(model), now)]
  })
  const ends = [...ended].filter((slug) => current.has(slug)).map(endedModel)
  return [...changes, ...ends]
}

function endedModel(slug: string): ModelChange {
  const held_back = 'The source says that the model is no longer served.'
  return { slug, kind: 'ended', prices: [], facts: [], held_back }
}

function addedModel(model: ModelDetails, reasonOfName: string | null, now: number): ModelChange {
  const { slug } = model
  const held_back = reasonOfName ?? reasonOfFreePrice(model)
  const prices = priceDifferences({ slug }, model, now)
  const applied = held_back === null && { applied: model }
  return { slug, kind: 'added', prices, facts: [], held_back, accepted: model, ...applied }
}

/** Returns why the name or the routes of a new model need consent: it may be a cheaper name of another one. */
function createNameCheck(known: KnownModels) {
  const models = [...known.current, ...known.settings]
  const aliases = new Map(models.flatMap(({ slug, aliases = [] }) => aliases.map((alias) => [alias, slug])))
  const owners = new Map(models.flatMap((model) => routeNames(model).map((route) => [route, model.slug])))
  return (model: ModelDetails): string | null => {
    const { slug } = model
    const routes = routeNames(model)
    const route = routes.find((name) => owners.has(name))
    const owner = route === undefined ? undefined : owners.get(route)
    for (const name of routes) owners.set(name, owners.get(name) ?? slug)
    if (known.removed.includes(slug)) return 'Its removal was accepted earlier.'
    if (entryOf(slug, known)) return 'The settings file has a model of this name.'
    if (aliases.has(slug)) return `It has the name of an alias of ${aliases.get(slug)}.`
    if ((model.aliases ?? []).length > 0) return 'It has aliases.'
    return owner === undefined ? null : `${route} is already known as ${owner}.`
  }
}

/** The entry of the settings that changes this model; it applies to one with this tag, too. */
function entryOf(slug: string, { settings }: Pick<KnownModels, 'settings'>): ModelDetails | undefined {
  return settings.find((entry) => slug === entry.slug || slug === `${entry.slug}:latest`)
}

function routeNames({ routes = [] }: ModelDetails): string[] {
  return routes.map(({ provider, model }) => `${provider}:${model}`)
}

/** Only prices, sizes and the end of a known model change: its routes, parameters and fast mode stay as they are. */
function changedModel(
  before: ModelDetails,
  model: ModelDetails,
  entry: ModelDetails | undefined,
  now: number,
): ModelChange[] {
  const { slug } = before
  const { pricing, price_changes } = withPrices(before, model, now)
  const patch = { pricing, ...(price_changes && { price_changes }) }
  const after = { ...before, ...patch }
  const prices = priceDifferences(before, after, now)
  const facts = factDifferences(before, model)
  if (prices.length === 0 && facts.length === 0) return []
  const pricePatch = prices.length > 0 && patch
  // Prices of the settings are merged with those of the catalog: a price may be lower only there.
  const merged =
    entry && pricePatch ? priceDifferences(mergeDetails(before, entry), mergeDetails(after, entry), now) : []
  const ofPrices =
    [...prices, ...merged].map(reasonToHold).find((reason) => reason !== null) ??
    (pricePatch && !hasCost(pricingAt(before, now)) ? reasonOfFreePrice(after) : null)
  const ofFacts = facts.map(reasonOfLimit).find((reason) => reason !== null) ?? null
  const held_back = ofPrices ?? ofFacts
  const accepted = { slug, ...factPatch(facts), ...pricePatch }
  const free = facts.filter((fact) => reasonOfLimit(fact) === null)
  const part = { slug, ...factPatch(free), ...(ofPrices === null && pricePatch) }
  const applied = held_back === null ? accepted : Object.keys(part).length > 1 && part
  return [{ slug, kind: 'changed', prices, facts, held_back, accepted, ...(applied && { applied }) }]
}

function factPatch(facts: readonly FactDifference[]): Partial<ModelDetails> {
  return Object.fromEntries(facts.map(({ fact, to }) => [fact, to]))
}

/** What a provider counts is charged up to these sizes. */
function reasonOfLimit({ fact, from, to }: FactDifference): string | null {
  if (fact === 'shutdown_date') return null
  if (from === null) return `${fact} had no limit.`
  return to < from ? `${fact} is lower.` : null
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
const fallbacks: Readonly<Record<string, 'input'>> = {
  cache_read: 'input',
  cache_write: 'input',
  input_audio: 'input',
}
const priceNames = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'input_audio',
  'request',
  'image',
] as const

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

function differencesOf(old: Pricing = {}, next: Pricing = {}) {
  return sizesOf([old, next]).flatMap((above) => {
    const [from, to] = [pricesFor(above + 1, old), pricesFor(above + 1, next)]
    return priceNames
      .filter((price) => from[price] !== undefined || to[price] !== undefined)
      .map((price) => ({ price, from: priceOf(from, price), to: priceOf(to, price), above }))
      .filter(({ from, to }) => nanosOf(from) !== nanosOf(to))
  })
}

/** The sizes of a prompt above which one of the prices applies. */
function sizesOf(pricings: readonly Pricing[]): number[] {
  const sizes = pricings.flatMap(({ tiers = [] }) => tiers.map(({ above }) => above))
  return [0, ...[...new Set(sizes)].toSorted((one, other) => one - other)]
}

function priceOf(pricing: Pricing, price: (typeof priceNames)[number]): number | null {
  return pricing[price] ?? pricing[fallbacks[price] ?? price] ?? null
}

/** Only what raises a price at most twofold needs no consent. */
function reasonToHold({ price, from, to }: Pick<PriceDifference, 'price' | 'from' | 'to'>): string | null {
  const [old, next] = [nanosOf(from), nanosOf(to)]
  if (next === null) return `${price} has no price.`
  if (old === null) return next === 0 ? `${price} is free.` : null
  if (next < old) return `${price} is lower.`
  return next > 2 * old ? `${price} is more than twice as high.` : null
}

/** Without earlier prices, each one needs consent that is zero now, later or in fast mode, or missing for tokens. */
function reasonOfFreePrice({ pricing = {}, price_changes = [], fast, supported_apis }: ModelDetails) {
  const isEmbedding = supported_apis?.every((api) => api === 'embeddings')
  const charged = priceNames.filter((price) => price !== 'output' || !isEmbedding)
  const pricings = [
    pricing,
    ...price_changes.map((change) => change.pricing),
    ...(fast ? [fast.pricing] : []),
  ]
  const reasons = pricings.flatMap((one) =>
    sizesOf([one]).flatMap((above) => {
      const prices = pricesFor(above + 1, one)
      return charged
        .filter((price) => prices[price] !== undefined || price === 'input' || price === 'output')
        .map((price) => reasonToHold({ price, from: null, to: prices[price] ?? null }))
    }),
  )
  return reasons.find((reason) => reason !== null) ?? null
}

/** Whole nano-dollars, as prices are charged. */
function nanosOf(price: number | null): number | null {
  return price === null ? null : Math.round(price * 1e9)
}
