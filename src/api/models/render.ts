import type { FastMode, Pricing, ReasoningDetails } from '../../config/model-details.ts'
import type { Model } from '../../gateway/models/model.ts'
import type { Models } from '../../gateway/models/models.ts'
import type { FastObject, ModelObject, PerformanceObject, PricingObject, ReasoningObject } from './schema.ts'

const renderedLists = new WeakMap<Models, string>()

/** Renders the list of the enabled models as JSON, once for each state of the models. */
export function renderModelList(models: Models): string {
  const cached = renderedLists.get(models)
  if (cached !== undefined) return cached
  const json = JSON.stringify({ object: 'list', data: models.enabled.map(renderModel) })
  renderedLists.set(models, json)
  return json
}

/** Renders a model as the API returns it. */
export function renderModel(model: Model): ModelObject {
  return {
    id: model.slug,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    slug: model.slug,
    display_name: model.displayName,
    provider: model.routes[0]?.provider.name,
    author: model.author,
    context_window: model.contextWindow ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    pricing: model.pricing ? renderPricing(model.pricing) : null,
    input_modalities: [...model.inputModalities],
    output_modalities: [...model.outputModalities],
    supported_parameters: [...model.supportedParameters],
    supported_apis: [...model.supportedApis],
    reasoning: model.reasoning ? renderReasoning(model.reasoning) : null,
    performance: renderPerformance(model),
  }
}

/** The base prices: price tiers for long prompts are not rendered. */
function renderPricing(pricing: Pricing): PricingObject {
  return {
    input: pricing.input ?? null,
    output: pricing.output ?? null,
    cache_read: pricing.cache_read ?? null,
    cache_write: pricing.cache_write ?? null,
    request: pricing.request ?? null,
    image: pricing.image ?? null,
  }
}

function renderReasoning(reasoning: ReasoningDetails): ReasoningObject {
  return {
    supported_efforts: reasoning.supported_efforts,
    default_effort: reasoning.default_effort ?? null,
    default_enabled: reasoning.default_enabled ?? null,
    mandatory: reasoning.mandatory ?? null,
  }
}

function renderPerformance({ fast, variantOf }: Model): PerformanceObject | null {
  if (variantOf !== undefined) return { kind: 'variant', mode: 'fast', variant_of: variantOf }
  return fast ? { kind: 'base', default_mode: 'standard', fast: renderFast(fast) } : null
}

function renderFast(fast: FastMode): FastObject {
  return { ...fast, pricing: renderPricing(fast.pricing) }
}
