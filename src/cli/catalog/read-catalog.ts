import { Compile } from 'typebox/compile'
import { ModelDetails, type Pricing } from '../../config/model-details.ts'
import { type Fields, fieldsOf, isObject, listOf, textOf } from '../../lib/json/json.ts'
import { CommandError } from '../errors.ts'
import { directProviders } from './direct-providers.ts'
import { toModelFacts } from './models-dev-entry.ts'
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
  const reader = findReader(file)
  if (reader === undefined) throw new CommandError(unknownFormMessage)
  const models = new Map<string, ModelDetails>()
  const skipped: SkippedEntry[] = []
  const ended = new Set<string>()
  const skip: OnInvalid = (entry, reason) => void skipped.push({ entry, reason })
  const complete = reader.read(file, current, {
    skip,
    end: (slug) => void ended.add(slug),
    add(entry, name) {
      const reason = models.has(entry.slug) ? 'It repeats an earlier entry.' : problemOf(entry)
      if (reason !== undefined) return skip(name ?? entry.slug, reason)
      if ((entry.shutdown_date ?? today) < today) ended.add(entry.slug)
      else models.set(entry.slug, entry)
    },
  })
  return { form: reader.form, models: [...models.values()], ended, complete: new Set(complete), skipped }
}

const unknownFormMessage =
  'The file is not a known list of models. Known forms: Weir’s own ({"models": [{"slug", …}]}), api.json of models.dev, ' +
  'the price map of LiteLLM, and the list of models of OpenRouter.'

const validator = Compile(ModelDetails)

/** A name that a terminal shows as it is. */
const plainName = /^[\w.:@/+~-]{1,200}$/

/** USD for a million tokens. */
const maxPrice = 1_000_000

function problemOf(entry: ModelDetails): string | undefined {
  if (!validator.Check(entry)) {
    const [first] = validator.Errors(entry)
    return `${first?.instancePath ?? ''} ${first?.message ?? 'is not valid'}.`.trim()
  }
  if (!plainName.test(entry.slug)) return 'Its name has unusual characters.'
  if (/\p{C}/u.test(entry.display_name ?? '')) return 'Its display name has control characters.'
  const pricings = [entry.pricing, ...(entry.price_changes ?? []).map(({ pricing }) => pricing)]
  const prices = pricings.flatMap((pricing) => [pricing, ...(pricing?.tiers ?? [])]).flatMap(pricesIn)
  if (prices.some((price) => price > maxPrice)) return `A price is above ${maxPrice} USD per million tokens.`
  return undefined
}

function pricesIn(pricing: Omit<Pricing, 'tiers'> | undefined): number[] {
  const { input = 0, output = 0, cache_read = 0, cache_write = 0, request = 0, image = 0 } = pricing ?? {}
  return [input, output, cache_read, cache_write, request, image]
}

type Reader = {
  readonly form: string
  matches(file: unknown): boolean
  /** Returns the providers of which the file has all models. */
  read(file: unknown, current: readonly ModelDetails[], into: Collector): readonly string[]
}

function findReader(file: unknown): Reader | undefined {
  return readers.find(({ matches }) => matches(file))
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

function readOwn(file: unknown, _current: readonly ModelDetails[], { add, end, skip }: Collector) {
  for (const [index, entry] of listOf(fieldsOf(file).models).entries()) {
    const { slug } = fieldsOf(entry)
    // Validated by `add`.
    if (typeof slug === 'string') add(entry as ModelDetails)
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
        else add(toModelFacts({ provider, model }))
      } catch (error) {
        skip(slug, error instanceof Error ? error.message : 'It is not valid.')
      }
    }
  return present.map(({ name }) => name)
}
