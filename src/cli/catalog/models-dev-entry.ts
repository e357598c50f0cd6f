import { Compile } from 'typebox/schema'
import {
  type FastMode,
  ModelDetails,
  type Pricing,
  type ReasoningDetails,
} from '../../config/model-details.ts'
import {
  isChatModel,
  isEmbeddingModel,
  usesResponses,
  type SelectedModel,
  type SourceCost,
  type SourceModel,
} from './models-dev-source.ts'
import { type Parameter, parameters } from '../../domain/generation/parameters.ts'
import { traitsOf } from '../../providers/protocols/anthropic/models.ts'
import type { DirectProvider } from './direct-providers.ts'
import { type Effort, efforts } from '../../domain/generation/request.ts'

const validator = Compile(ModelDetails)

/** Converts a model to its catalog entry; throws if the entry is not valid. */
export function toModelFacts({ provider, model }: SelectedModel): ModelDetails {
  const reasoning = reasoningFacts(provider, model)
  const isEmbedding = isEmbeddingModel(model)
  const entry = {
    slug: `${provider.author}/${model.id}`,
    enabled: isChatModel(model) || isEmbedding ? undefined : false,
    display_name: model.name,
    author: authorFromId(model.id, provider.author),
    released: model.release_date?.length === 7 ? `${model.release_date}-01` : model.release_date,
    context_window: model.limit.context || undefined,
    // For embeddings, the source has the dimensions there.
    max_output_tokens: isEmbedding ? undefined : model.limit.output || undefined,
    pricing: toPricing(withDerived(model)),
    price_changes: model.cost_from?.map(({ from, cost }) => ({
      effective_from: from,
      pricing: toPricing({ ...model.cost, ...cost }),
    })),
    input_modalities: model.modalities.input.map(toModality),
    output_modalities: isEmbedding ? [] : outputModalities(model),
    supported_parameters: isEmbedding ? [] : supportedParameters(provider, model, reasoning),
    supported_apis: isEmbedding ? ['embeddings'] : undefined,
    reasoning,
    fast: fastMode(model),
    aliases: model.aliases?.map((alias) => `${provider.author}/${alias}`),
    routes: [
      {
        provider: provider.name,
        model: model.id,
        api: usesResponses(provider, model) ? 'responses' : undefined,
      },
    ],
  }
  return validated(entry)
}

/** Hosts of open models have the author in the id: `Qwen/Qwen3.5-9B`. Absent where the slug begins with the author. */
function authorFromId(id: string, host: string): string | undefined {
  const [author, name, ...more] = id.split('/')
  return name !== undefined && more.length === 0 && author !== host ? author : undefined
}

/** Absent for text alone, as for nearly all models. */
function outputModalities({ modalities }: SourceModel): readonly string[] | undefined {
  const [only, ...others] = modalities.output
  return only === 'text' && others.length === 0 ? undefined : modalities.output.map(toModality)
}

function toModality(modality: string): string {
  return modality === 'pdf' ? 'file' : modality
}

/** Only fast modes that are a service tier are supported; one that needs a header is ignored. */
function fastMode({ experimental }: SourceModel): FastMode | undefined {
  const fast = experimental?.modes?.fast
  const pricing = toPricing(fast?.cost)
  if (fast?.provider?.body?.service_tier !== 'priority' || !pricing) return undefined
  return { strategy: 'service_tier', service_tier: 'priority', pricing }
}

/** Removes undefined fields, which the closed schema would reject, and validates the entry. */
function validated(entry: { readonly slug: string }): ModelDetails {
  const present: unknown = JSON.parse(JSON.stringify(entry))
  if (validator.Check(present)) return present
  throw new Error(`${entry.slug}: ${detailsProblem(present)}`)
}

/** What is wrong with a catalog entry; undefined if it is valid. */
export function detailsProblem(entry: unknown): string | undefined {
  if (validator.Check(entry)) return undefined
  const [, [first]] = validator.Errors(entry)
  return `${first?.instancePath ?? ''} ${first?.message ?? 'is not valid'}.`.trim()
}

/** A price that is not published is the one of the rule: without it, the gateway would charge less than the provider. */
function withDerived({ cost, derived }: SourceModel): SourceCost | undefined {
  return cost && { ...derived, ...cost }
}

type Prices = Pick<SourceCost, 'input' | 'output' | 'cache_read' | 'cache_write' | 'input_audio'>

/** Converts the prices; both formats use USD per million tokens. */
function toPricing(cost: SourceCost | undefined): Pricing | undefined {
  if (!cost) return undefined
  const pricing = toPrices({ ...cost, cache_read: cost.cache_read ?? cost.cached_input })
  const tiers = toTiers(cost)
  return tiers.length > 0 ? { ...pricing, tiers } : pricing
}

/** A cache price of zero means unknown: no provider gives cached tokens away. */
function toPrices({ input, output, cache_read, cache_write, input_audio }: Prices): Prices {
  return {
    input,
    output,
    cache_read: cache_read || undefined,
    cache_write: cache_write || undefined,
    input_audio: input_audio === input ? undefined : input_audio,
  }
}

function toTiers({ tiers, context_over_200k: above200k }: SourceCost): NonNullable<Pricing['tiers']> {
  if (tiers) return tiers.map(({ tier, ...prices }) => ({ above: tier.size, ...toPrices(prices) }))
  return above200k ? [{ above: 200_000, ...toPrices(above200k) }] : []
}

/** Returns the parameters of the provider's API without those that this model rejects. */
function supportedParameters(
  provider: DirectProvider,
  model: SourceModel,
  reasoning: ReasoningDetails | undefined,
): Parameter[] {
  const unsupported = new Set<Parameter>([
    ...unsupportedByFlags(model),
    ...(usesResponses(provider, model) ? unsupportedByResponses : []),
    ...(unsupportedByFamily[provider.name]?.(model) ?? []),
    ...(reasoning && reasoning.supported_efforts.length > 0 ? [] : (['reasoning_effort'] as const)),
  ])
  return parameters.filter(
    (parameter) => provider.parameters.includes(parameter) && !unsupported.has(parameter),
  )
}

/** Parameters that the Responses API does not have. */
const unsupportedByResponses = [
  'n',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logit_bias',
] as const

function unsupportedByFlags(model: SourceModel): Parameter[] {
  const unsupported: Parameter[] = []
  if (!model.tool_call) unsupported.push('tools', 'tool_choice', 'parallel_tool_calls')
  // The flag describes the reasoning mode; models that reason only on request support sampling otherwise.
  if (model.temperature === false && !reasonsOnlyOnRequest(model)) unsupported.push('temperature', 'top_p')
  if (model.structured_output === false) unsupported.push('response_format')
  return unsupported
}

type FamilyRule = (model: SourceModel) => readonly Parameter[]

/** Parameters that families of reasoning models reject. */
const unsupportedByFamily: Readonly<Record<string, FamilyRule>> = {
  openai: ({ id, temperature }) => {
    if (temperature !== false) return []
    const penalties = ['frequency_penalty', 'presence_penalty', 'logit_bias'] as const
    if (id.startsWith('o1')) return [...penalties, 'parallel_tool_calls']
    if (/^o\d/.test(id)) return [...penalties, 'stop', 'parallel_tool_calls']
    return [...penalties, 'stop']
  },
  xai: ({ reasoning }) => (reasoning ? ['stop', 'frequency_penalty', 'presence_penalty'] : []),
}

/** Returns how the reasoning of the model can be configured; undefined for a model without reasoning. */
function reasoningFacts(provider: DirectProvider, model: SourceModel): ReasoningDetails | undefined {
  if (!model.reasoning) return undefined
  const optional = canDisableReasoning(provider, model)
  const levels = effortLevels(model, optional)
  return {
    supported_efforts: optional ? ['none', ...levels] : levels,
    ...(optional ? optionalDefaults(provider, model) : mandatoryDefaults(levels)),
    ...(isEffort(model.default_effort) && { default_effort: model.default_effort }),
  }
}

function isEffort(name: string | undefined): name is Effort {
  return efforts.some((effort) => effort === name)
}

/** Returns the efforts above none: three levels for a token budget, one for a toggle. */
function effortLevels(model: SourceModel, optional: boolean): Effort[] {
  const listedEfforts = efforts.filter((effort) => effort !== 'none' && effortValues(model).includes(effort))
  if (listedEfforts.length > 0) return listedEfforts
  if (optionOf(model, 'budget_tokens')) return ['low', 'medium', 'high']
  return optional ? ['medium'] : []
}

function canDisableReasoning(provider: DirectProvider, model: SourceModel): boolean {
  // Claude reasons only on request, except for models that always reason.
  if (provider.name === 'anthropic') return traitsOf(model.id).alwaysThinks !== true
  const acceptsZeroBudget = optionOf(model, 'budget_tokens')?.min === 0
  return effortValues(model).includes('none') || optionOf(model, 'toggle') !== undefined || acceptsZeroBudget
}

function effortValues(model: SourceModel): readonly (string | null)[] {
  return optionOf(model, 'effort')?.values ?? []
}

function optionOf(model: SourceModel, type: string) {
  return model.reasoning_options?.find((option) => option.type === type)
}

function mandatoryDefaults(levels: readonly Effort[]) {
  const [only, another] = levels
  const fixed = only !== undefined && another === undefined ? { default_effort: only } : {}
  return { ...fixed, default_enabled: true, mandatory: true }
}

function optionalDefaults(provider: DirectProvider, model: SourceModel) {
  if (provider.name !== 'openai') return { mandatory: false }
  if (reasonsOnlyOnRequest(model))
    return { default_effort: 'none' as const, default_enabled: false, mandatory: false }
  return { default_enabled: true, mandatory: false }
}

/** True for GPT-5.1 to 5.4. Earlier models always reason; later ones reason by default. */
function reasonsOnlyOnRequest(model: SourceModel): boolean {
  return /^gpt-5\.[1-4](-|$)/.test(model.id) && effortValues(model).includes('none')
}
