import { withRoutes } from '../../config/catalog.ts'
import type { ModelDetails, Pricing } from '../../config/model-details.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../lib/json/json.ts'
import { CommandError } from '../errors.ts'
import { directProviders } from './direct-providers.ts'
import { detailsProblem, toModelFacts } from './models-dev-entry.ts'
import { hasText, isDeprecated, type OnInvalid, sourceModels } from './models-dev-source.ts'
import { type Collector, readLiteLlm, readOpenRouter } from './token-prices.ts'

/** A list of models of one of the known forms. */
export type ReadCatalog = {
  readonly form: string
  /** Each has a known slug with the facts that the source knows, or is complete, with routes. */
  readonly models: readonly ModelDetails[]
  /** The slugs of the models that the source says are no longer served. */
  readonly ended: ReadonlySet<string>
  /** The providers of which the source has all models. */
  readonly complete: ReadonlySet<string>
  /** Entries that are not valid, each with the reason. */
  readonly skipped: readonly SkippedEntry[]
}

export type SkippedEntry = { readonly entry: string; readonly reason: string }

/** Reads a list of models in any of the forms; throws `CommandError` for any other value. */
export function readCatalog(file: unknown, current: readonly ModelDetails[], today: string): ReadCatalog {
  const reader = readers.find(({ matches }) => matches(file))
  if (reader === undefined) throw new CommandError(unknownFormMessage)
  const models = new Map<string, ModelDetails>()
  const skipped: SkippedEntry[] = []
  const ended = new Set<string>()
  const known = new Set(current.map(({ slug }) => slug))
  const skip: OnInvalid = (entry, reason) => void skipped.push({ entry, reason })
  const complete = reader.read(file, current, {
    skip,
    end: (slug) => void ended.add(slug),
    add(entry, name) {
      const reason = models.has(entry.slug) ? 'It repeats an earlier entry.' : problemOf(entry)
      if (reason !== undefined) return skip(name ?? entry.slug, reason)
      if (entry.routes === undefined && !known.has(entry.slug))
        return skip(name ?? entry.slug, 'It is not in the catalog, and has no routes.')
      if ((entry.shutdown_date ?? today) < today) ended.add(entry.slug)
      else models.set(entry.slug, entry)
    },
  })
  return { form: reader.form, models: [...models.values()], ended, complete: new Set(complete), skipped }
}

const unknownFormMessage =
  'The file is not a known list of models. Known forms: Weir’s own ({"models": [{"slug", …}]}), api.json of models.dev, ' +
  'the price map of LiteLLM, and the list of models of OpenRouter.'

/** A name that a terminal shows as it is. */
const plainName = /^[\w.:@/+~-]{1,200}$/

/** USD for a million tokens. */
const maxPrice = 1_000_000

const maxTiers = 16
const maxPriceChanges = 64

function problemOf(entry: ModelDetails): string | undefined {
  const problem = detailsProblem(entry)
  if (problem !== undefined) return problem
  if (!plainName.test(entry.slug)) return 'Its name has unusual characters.'
  if (hasControls(entry)) return 'A text has control characters.'
  const { pricing, price_changes = [], fast } = entry
  if (price_changes.length > maxPriceChanges) return `It has more than ${maxPriceChanges} price changes.`
  const pricings = [pricing, fast?.pricing, ...price_changes.map((change) => change.pricing)]
  return pricings.map(pricingProblem).find((found) => found !== undefined)
}

/** The terminal shows the texts. The schema has no other names, and bounds the depth. */
function hasControls(value: unknown): boolean {
  if (typeof value === 'string') return /\p{C}/u.test(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasControls)
}

function pricingProblem(pricing: Pricing | undefined): string | undefined {
  const tiers = pricing?.tiers ?? []
  if (tiers.length > maxTiers) return `It has more than ${maxTiers} tiers.`
  if (new Set(tiers.map(({ above }) => above)).size < tiers.length) return 'Two tiers begin at the same size.'
  const isTooHigh = [pricing, ...tiers].flatMap(pricesIn).some((price) => price > maxPrice)
  return isTooHigh ? `A price is above ${maxPrice} USD per million tokens.` : undefined
}

function pricesIn(pricing: Omit<Pricing, 'tiers'> | undefined): number[] {
  const { input = 0, output = 0, cache_read = 0, cache_write = 0, input_audio = 0 } = pricing ?? {}
  const { request = 0, image = 0 } = pricing ?? {}
  return [input, output, cache_read, cache_write, input_audio, request, image]
}

type Reader = {
  readonly form: string
  matches(file: unknown): boolean
  /** Returns the providers of which the file has all models. */
  read(file: unknown, current: readonly ModelDetails[], into: Collector): readonly string[]
}

function valuesOf(file: unknown): readonly Fields[] {
  return isObject(file) ? Object.values(file).map(fieldsOf) : []
}

const readers: readonly Reader[] = [
  {
    form: 'Weir',
    matches: (file) => listOf(fieldsOf(file).models).some((entry) => textOf(fieldsOf(entry).slug)),
    read: readOwn,
  },
  {
    form: 'OpenRouter',
    matches: (file) => listOf(fieldsOf(file).data).some((entry) => isObject(fieldsOf(entry).pricing)),
    read: readOpenRouter,
  },
  {
    form: 'LiteLLM',
    matches: (file) => valuesOf(file).some(({ litellm_provider }) => textOf(litellm_provider)),
    read: readLiteLlm,
  },
  {
    form: 'models.dev',
    matches: (file) =>
      directProviders.some(({ source }) => isObject(fieldsOf(fieldsOf(file)[source]).models)),
    read: readModelsDev,
  },
]

function readOwn(file: unknown, current: readonly ModelDetails[], { add, end, skip }: Collector) {
  const known = new Set(current.map(({ slug }) => slug))
  // As in the built-in catalog, which names no route that the slug names.
  const isServedAsNamed = (slug: string) =>
    !known.has(slug) && directProviders.some(({ name }) => slug.startsWith(`${name}/`))
  for (const [index, entry] of listOf(fieldsOf(file).models).entries()) {
    const { slug } = fieldsOf(entry)
    // Validated by `add`.
    const model = entry as ModelDetails
    if (typeof slug === 'string') add(isServedAsNamed(slug) ? withRoutes(model) : model)
    else skip(`models[${index}]`, 'It has no slug.')
  }
  for (const slug of listOf(fieldsOf(file).ended)) if (typeof slug === 'string') end(slug)
  return []
}

function readModelsDev(file: unknown, _current: readonly ModelDetails[], { add, end, skip }: Collector) {
  const present = directProviders.filter(({ source }) => isObject(fieldsOf(fieldsOf(file)[source]).models))
  for (const provider of present)
    for (const model of sourceModels(file, provider.source, skip).filter(hasText)) {
      const slug = `${provider.author}/${model.id}`
      try {
        if (isDeprecated(model)) end(slug)
        else add(toModelFacts({ provider, model: { ...model, ...ofAdditions } }))
      } catch (error) {
        skip(slug, error instanceof Error ? error.message : 'It is not valid.')
      }
    }
  return present.map(({ name }) => name)
}

/** Fields that models.dev does not have: only the additions to the built-in catalog may use them. */
const ofAdditions = {
  aliases: undefined,
  cost_from: undefined,
  derived: undefined,
  default_effort: undefined,
}
