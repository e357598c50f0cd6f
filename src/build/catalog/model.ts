import { Compile } from 'typebox/compile'
import { type FastMode, ModelDetails, type Pricing } from '../../config/model-details.ts'
import { supportedParameters } from './parameters.ts'
import { reasoningFacts } from './reasoning.ts'
import {
  isChatModel,
  isEmbeddingModel,
  isResponsesOnly,
  type SelectedModel,
  type SourceCost,
  type SourceModel,
} from './source.ts'

const validator = Compile(ModelDetails)

/** Converts a model to its catalog entry; throws if the entry is not valid. */
export function toModelFacts({ provider, model }: SelectedModel): ModelDetails {
  const reasoning = reasoningFacts(provider, model)
  const isEmbedding = isEmbeddingModel(model)
  const entry = {
    slug: `${provider.author}/${model.id}`,
    enabled: isChatModel(model) || isEmbedding ? undefined : false,
    display_name: model.name,
    author: authorFromId(model.id) ?? provider.author,
    released: model.release_date.length === 7 ? `${model.release_date}-01` : model.release_date,
    context_window: model.limit.context || undefined,
    // For embeddings, the source has the dimensions there.
    max_output_tokens: isEmbedding ? undefined : model.limit.output || undefined,
    pricing: toPricing(model.cost),
    input_modalities: model.modalities.input.map(toModality),
    output_modalities: isEmbedding ? [] : model.modalities.output.map(toModality),
    supported_parameters: isEmbedding ? [] : supportedParameters(provider, model, reasoning),
    supported_apis: isEmbedding ? ['embeddings'] : undefined,
    reasoning,
    fast: fastMode(model),
    routes: [
      {
        provider: provider.name,
        model: model.id,
        api: isResponsesOnly(provider, model) ? 'responses' : undefined,
      },
    ],
  }
  return validated(entry)
}

/** Hosts of open models have the author in the id: `Qwen/Qwen3.5-9B`. */
function authorFromId(id: string): string | undefined {
  const [author, name, ...more] = id.split('/')
  return name !== undefined && more.length === 0 ? author : undefined
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
  const [first] = validator.Errors(present)
  throw new Error(`${entry.slug}${first?.instancePath ?? ''}: ${first?.message ?? 'not as expected'}`)
}

type Prices = Pick<SourceCost, 'input' | 'output' | 'cache_read' | 'cache_write'>

/** Converts the prices; both formats use USD per million tokens. */
function toPricing(cost: SourceCost | undefined): Pricing | undefined {
  if (!cost) return undefined
  const pricing = toPrices({ ...cost, cache_read: cost.cache_read ?? cost.cached_input })
  const tiers = toTiers(cost)
  return tiers.length > 0 ? { ...pricing, tiers } : pricing
}

/** A cache price of zero means unknown: no provider gives cached tokens away. */
function toPrices({ input, output, cache_read, cache_write }: Prices): Prices {
  return { input, output, cache_read: cache_read || undefined, cache_write: cache_write || undefined }
}

function toTiers({ tiers, context_over_200k: above200k }: SourceCost): NonNullable<Pricing['tiers']> {
  if (tiers) return tiers.map(({ tier, ...prices }) => ({ above: tier.size, ...toPrices(prices) }))
  return above200k ? [{ above: 200_000, ...toPrices(above200k) }] : []
}
