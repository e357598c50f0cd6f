import type { ModelDetails, Pricing } from '../../config/model-details.ts'
import { type Fields, withoutEmpty } from '../../lib/json/json.ts'
import { amountOf, countOf, isFalse, isTrue } from './source.ts'

/** The details of a model in the source. */
export type ImportedFacts = Pick<ModelDetails, 'context_window' | 'max_output_tokens' | 'pricing'> & {
  /** `supports_vision` and the like, where they are set. */
  readonly modalities: Readonly<Record<string, boolean>>
  /** Parameters that the model does or does not support. */
  readonly parameters: Readonly<Record<string, boolean>>
}

const modalityFlags = {
  supports_vision: 'image',
  supports_audio_input: 'audio',
  supports_video_input: 'video',
  supports_pdf_input: 'file',
} as const

const parameterFlags = {
  supports_function_calling: ['tools', 'tool_choice', 'parallel_tool_calls'],
  supports_parallel_function_calling: ['parallel_tool_calls'],
  supports_tool_choice: ['tool_choice'],
  supports_reasoning: ['reasoning_effort'],
} as const

/** Reads the facts of a model: prices may be in `litellm_params` too, and take precedence there. */
export function readFacts(info: Fields, params: Fields): ImportedFacts {
  const pricing = readPricing({ ...info, ...withoutEmpty(params) })
  const contextWindow = countOf(info.max_input_tokens)
  const maxOutput = countOf(info.max_output_tokens) ?? countOf(info.max_tokens)
  return {
    ...(contextWindow !== undefined && { context_window: contextWindow }),
    ...(maxOutput !== undefined && { max_output_tokens: maxOutput }),
    ...(pricing !== undefined && { pricing }),
    modalities: flagsOf(info, modalityFlags),
    parameters: flagsOf(info, parameterFlags),
  }
}

/** The fields of `model_info` that `readFacts` reads, besides prices. */
export const factFields: readonly string[] = [
  'max_input_tokens',
  'max_output_tokens',
  'max_tokens',
  ...Object.keys(modalityFlags),
  ...Object.keys(parameterFlags),
]

/** A false flag counts more than a true one: no tool choice without tools. */
function flagsOf(
  info: Fields,
  names: Readonly<Record<string, string | readonly string[]>>,
): Record<string, boolean> {
  const flags: Record<string, boolean> = {}
  for (const [flag, targets] of Object.entries(names))
    for (const target of typeof targets === 'string' ? [targets] : targets) {
      if (isFalse(info[flag])) flags[target] = false
      if (isTrue(info[flag])) flags[target] ??= true
    }
  return flags
}

/** LiteLLM's names of prices per token, and Weir's names of prices per million. */
const tokenPrices = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  input_cost_per_audio_token: 'input_audio',
} as const

const otherPrices = { input_cost_per_request: 'request', input_cost_per_image: 'image' } as const

/** Reads the prices in USD per million tokens; undefined if there are none. */
function readPricing(fields: Fields): Pricing | undefined {
  const prices: Record<string, number> = {}
  for (const [name, price] of Object.entries({ ...tokenPrices, ...otherPrices })) {
    const amount = amountOf(fields[name])
    if (amount !== undefined) prices[price] = Object.hasOwn(tokenPrices, name) ? perMillion(amount) : amount
  }
  const tiers = readTiers(fields)
  if (Object.keys(prices).length === 0 && tiers.length === 0) return undefined
  return { ...prices, ...(tiers.length > 0 && { tiers }) }
}

/** True for the name of a price that `readPricing` reads. */
export function isPriceField(name: string): boolean {
  return Object.hasOwn(tokenPrices, name) || Object.hasOwn(otherPrices, name) || tierOf(name) !== undefined
}

type Tier = NonNullable<Pricing['tiers']>[number]

/** The prices above a number of prompt tokens, lowest first. */
function readTiers(fields: Fields): Tier[] {
  const tiers = new Map<number, Tier>()
  for (const [name, value] of Object.entries(fields)) {
    const tier = tierOf(name)
    const amount = amountOf(value)
    if (tier === undefined || amount === undefined) continue
    const { above, price } = tier
    tiers.set(above, { ...tiers.get(above), above, [price]: perMillion(amount) })
  }
  return [...tiers.values()].toSorted((a, b) => a.above - b.above)
}

/** Parses a name such as `input_cost_per_token_above_200k_tokens`. */
function tierOf(name: string): { readonly above: number; readonly price: string } | undefined {
  const [, base = '', thousands] = /^(\w+)_above_(\d{1,5})k_tokens$/.exec(name) ?? []
  const price = Object.entries(tokenPrices).find(([known]) => known === base)?.[1]
  const above = Number(thousands) * 1000
  return price === undefined || !(above > 0) ? undefined : { above, price }
}

/** Without the binary fraction that a price such as 0.15e-6 has times a million. */
function perMillion(amount: number): number {
  return Number((amount * 1_000_000).toPrecision(12))
}
