import { type Static, Type } from 'typebox'
import type { FastMode, Pricing, ReasoningDetails } from '../../config/model-details.ts'
import type { Model } from '../../gateway/models/model.ts'
import type { Models } from '../../gateway/models/models.ts'
import { defineQuery } from '../../http/query.ts'
import { badRequest } from '../../lib/errors/errors.ts'
import type {
  FastObject,
  ModelObject,
  PerformanceObject,
  PricingObject,
  ReasoningObject,
} from '../../http/objects/model.ts'

const renderedLists = new WeakMap<Models, string>()

/** Renders the list of the enabled models as JSON, once for each state of the models. */
export function renderModelList(models: Models): string {
  const cached = renderedLists.get(models)
  if (cached !== undefined) return cached
  const json = JSON.stringify({ object: 'list', data: models.enabled.map(renderModel) })
  renderedLists.set(models, json)
  return json
}

/**
 * The list for Codex, which reads only `models`. An entry there would have to contain the instructions of the agent and
 * would replace its own; with none, it keeps them and what it knows of the models.
 */
export function renderCodexList(models: Models): string {
  return `{"models":[],${renderModelList(models).slice(1)}`
}

/** Renders a model as the API returns it. */
export function renderModel(model: Model): ModelObject {
  return {
    id: model.slug,
    object: 'model',
    created: model.created,
    shutdown_date: model.shutdownDate ?? null,
    owned_by: model.ownedBy,
    slug: model.slug,
    display_name: model.displayName,
    provider: model.routes[0]?.provider.name,
    routes: model.routes.map(({ provider, weight = null }) => ({ provider: provider.name, weight })),
    author: model.author,
    released: model.released ?? null,
    context_window: model.contextWindow ?? null,
    context_length: model.contextWindow ?? null,
    max_model_len: model.contextWindow ?? null,
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
    ...(pricing.input_audio !== undefined && { input_audio: pricing.input_audio }),
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

/** The query parameters of the list in Anthropic's form. */
export const anthropicQuery = defineQuery({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: 'The maximum number of models on the page.' }),
  ),
  after_id: Type.Optional(Type.String({ description: 'The id of a model; the page begins after it.' })),
  before_id: Type.Optional(Type.String({ description: 'The id of a model; the page ends before it.' })),
})

const defaultLimit = 20

type AnthropicModel = Static<typeof AnthropicModel>
const tokens = Type.Union([Type.Number(), Type.Null()])
const timeOrNull = Type.Union([Type.String(), Type.Null()])
/** A model in the form of Anthropic's API. */
export const AnthropicModel = Type.Object(
  {
    type: Type.Literal('model'),
    id: Type.String(),
    display_name: Type.String(),
    created_at: Type.String(),
    max_input_tokens: tokens,
    max_tokens: tokens,
    lifecycle: Type.Enum(['active', 'deprecated'], {
      description: 'Whether the provider has announced the end of the model.',
    }),
    deprecated_at: timeOrNull,
    retires_at: timeOrNull,
  },
  { title: 'AnthropicModel' },
)

const idOrNull = Type.Union([Type.String(), Type.Null()])
export type AnthropicModelList = Static<typeof AnthropicModelList>
/** A page of models in the form of Anthropic's API. */
export const AnthropicModelList = Type.Object(
  { data: Type.Array(AnthropicModel), has_more: Type.Boolean(), first_id: idOrNull, last_id: idOrNull },
  { title: 'AnthropicModelList' },
)

/** The page of the enabled models that the query parameters select. */
export function renderAnthropicList({ enabled }: Models, request: Request): AnthropicModelList {
  const { limit = defaultLimit, after_id, before_id } = anthropicQuery.read(request)
  const entries = enabled.flatMap((model) => [
    renderAnthropicModel(model),
    ...model.aliases.filter((alias) => listedAlias.test(alias)).map((id) => renderAnthropicModel(model, id)),
  ])
  const start = after_id === undefined ? 0 : indexOf(entries, after_id, 'after_id') + 1
  const end = before_id === undefined ? entries.length : indexOf(entries, before_id, 'before_id')
  const range = entries.slice(start, Math.max(start, end))
  const data = before_id === undefined ? range.slice(0, limit) : range.slice(-limit)
  return {
    data,
    has_more: data.length < range.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}

/** Claude Code offers only models whose ids begin like this, so that other models need an alias to be in its menu. */
const listedAlias = /^(claude|anthropic)/

/** Renders a model in the form of Anthropic's API, by its slug or an alias. */
export function renderAnthropicModel(model: Model, id: string = model.slug): AnthropicModel {
  return {
    type: 'model',
    id,
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString(),
    max_input_tokens: model.contextWindow ?? null,
    max_tokens: model.maxOutputTokens ?? null,
    lifecycle: model.shutdownDate === undefined ? 'active' : 'deprecated',
    // The day of the announcement is not known.
    deprecated_at: null,
    retires_at: model.shutdownDate === undefined ? null : new Date(model.shutdownDate).toISOString(),
  }
}

function indexOf(entries: readonly AnthropicModel[], id: string, param: string): number {
  const index = entries.findIndex((entry) => entry.id === id)
  if (index < 0) throw badRequest(`Invalid '${param}': it is not the id of a model.`, 'invalid_value', param)
  return index
}
