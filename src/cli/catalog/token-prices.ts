import type { ModelDetails, Pricing } from '../../config/model-details.ts'
import { type Fields, fieldsOf, listOf, numberOf, textOf, withoutEmpty } from '../../lib/json/json.ts'
import type { OnInvalid } from './models-dev-source.ts'

/** Receives what a reader finds. */
export type Collector = {
  /** Adds a model after it was validated; `name` is its name in the source. */
  add(entry: ModelDetails, name?: string): void
  /** The source says that the model is no longer served. */
  readonly end: (slug: string) => void
  readonly skip: OnInvalid
}

/** The names of Weir's providers in the price map of LiteLLM. */
const liteLlmProviders: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  gemini: 'gemini',
  mistral: 'mistral',
  groq: 'groq',
  deepseek: 'deepseek',
  xai: 'xai',
  together_ai: 'together',
  fireworks_ai: 'fireworks',
  cerebras: 'cerebras',
  openrouter: 'openrouter',
}

/** The price map says what known models cost and when they end, but not how a new one is called. */
export function readLiteLlm(file: unknown, current: readonly ModelDetails[], { add, skip }: Collector) {
  const known = new Map(
    current.flatMap(({ slug, routes = [] }) =>
      routes.map(({ provider, model }) => [`${provider} ${model}`, slug] as const),
    ),
  )
  for (const [name, value] of Object.entries(fieldsOf(file))) {
    const entry = fieldsOf(value)
    const service = textOf(entry.litellm_provider) ?? ''
    const provider = Object.hasOwn(liteLlmProviders, service) ? liteLlmProviders[service] : undefined
    const model = name.startsWith(`${service}/`) ? name.slice(service.length + 1) : name
    const slug = known.get(`${provider} ${model}`)
    if (provider === undefined || slug === undefined) continue
    const { pricing, invalid } = liteLlmPricing(entry)
    if (invalid !== undefined) skip(name, `${invalid} is not a price.`)
    else add(validLater({ slug, pricing, shutdown_date: dayOf(entry.deprecation_date) }), name)
  }
  return []
}

const liteLlmPrices = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write: 'cache_creation_input_token_cost',
  input_audio: 'input_cost_per_audio_token',
} as const

function liteLlmPricing(entry: Fields) {
  const base = tokenPrices(entry, liteLlmPrices)
  const sizes = Object.keys(entry).flatMap(
    (name) => /^input_cost_per_token_above_(\d{1,5})k_tokens$/.exec(name)?.[1] ?? [],
  )
  const tiers = sizes.map((size) => {
    const names = Object.entries(liteLlmPrices).map(([price, name]) => [
      price,
      `${name}_above_${size}k_tokens`,
    ])
    return { above: Number(size) * 1000, ...tokenPrices(entry, Object.fromEntries(names)) }
  })
  const invalid = [base, ...tiers].find(({ invalid }) => invalid !== undefined)?.invalid
  const listed = tiers.map(({ above, pricing }) => ({ above, ...pricing }))
  return { invalid, pricing: { ...base.pricing, ...(listed.length > 0 && { tiers: listed }) } }
}

/** Models of OpenRouter have the slugs under which they are discovered: other sellers have other prices. */
export function readOpenRouter(file: unknown, _current: readonly ModelDetails[], { add, skip }: Collector) {
  for (const [index, value] of listOf(fieldsOf(file).data).entries()) {
    const entry = fieldsOf(value)
    const id = textOf(entry.id)
    const { pricing, invalid } = tokenPrices(fieldsOf(entry.pricing), {
      input: 'prompt',
      output: 'completion',
      cache_read: 'input_cache_read',
      cache_write: 'input_cache_write',
    })
    if (id === undefined) skip(`data[${index}]`, 'It has no id.')
    else if (invalid !== undefined) skip(id, `${invalid} is not a price.`)
    else add(openRouterModel(id, entry, pricing))
  }
  return []
}

function openRouterModel(id: string, entry: Fields, pricing: Pricing): ModelDetails {
  const request = Number(fieldsOf(entry.pricing).request ?? 0)
  const { input_modalities, output_modalities } = fieldsOf(entry.architecture)
  return validLater({
    slug: `openrouter/${id}`,
    display_name: textOf(entry.name),
    context_window: numberOf(entry.context_length),
    max_output_tokens: numberOf(fieldsOf(entry.top_provider).max_completion_tokens),
    shutdown_date: dayOf(entry.expiration_date),
    pricing: { ...pricing, ...(request !== 0 && { request }) },
    input_modalities: knownModalities(input_modalities),
    output_modalities: knownModalities(output_modalities),
    routes: [{ provider: 'openrouter', model: id }],
  })
}

function knownModalities(value: unknown): ModelDetails['input_modalities'] {
  const modalities = listOf(value)
  return (['text', 'image', 'audio', 'video', 'file'] as const).filter((name) => modalities.includes(name))
}

/** Reads prices per token; `invalid` names the first one that is not a price. */
function tokenPrices(entry: Fields, names: Readonly<Record<string, string>>) {
  const pricing: Record<string, number> = {}
  for (const [price, name] of Object.entries(names)) {
    if (entry[name] === undefined || entry[name] === null) continue
    const perMillion = pricePerMillion(entry[name])
    if (perMillion === undefined) return { pricing: {}, invalid: name }
    // No provider gives cached tokens away: such a zero means unknown.
    if (perMillion > 0 || !price.startsWith('cache')) pricing[price] = perMillion
  }
  return { pricing, invalid: undefined }
}

/**
 * A price in USD per token as one per million tokens, with the nine decimals that are charged; undefined for anything else,
 * such as -1 for a price that varies. The decimal point is moved in the text, because a product of floats is not exact.
 */
export function pricePerMillion(perToken: unknown): number | undefined {
  if (typeof perToken !== 'string' && typeof perToken !== 'number') return undefined
  const match = /^(\d{1,20}(?:\.\d{1,40})?)(?:e([+-]?\d{1,3}))?$/i.exec(String(perToken))
  return match ? Number(Number(`${match[1]}e${Number(match[2] ?? 0) + 6}`).toFixed(9)) : undefined
}

function dayOf(value: unknown): string | undefined {
  const text = textOf(value)
  return text !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : undefined
}

/** Without undefined fields, which the closed schema rejects; `add` validates the rest. */
function validLater(entry: Fields): ModelDetails {
  return withoutEmpty(entry) as ModelDetails
}
