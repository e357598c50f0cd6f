import { type Static, Type } from 'typebox'
import { efforts } from '../domain/generation/request.ts'

/** USD: per million tokens for input, output, cache_read and cache_write; per request; per image. */
const price = Type.Number({ minimum: 0 })
const prices = {
  input: Type.Optional(price),
  output: Type.Optional(price),
  cache_read: Type.Optional(price),
  cache_write: Type.Optional(price),
  request: Type.Optional(price),
  image: Type.Optional(price),
}

export type Pricing = Static<typeof Pricing>
export const Pricing = Type.Object(
  {
    ...prices,
    /** Other prices for the whole request once its prompt is larger than `above` tokens. */
    tiers: Type.Optional(
      Type.Array(
        Type.Object({ above: Type.Integer({ minimum: 1 }), ...prices }, { additionalProperties: false }),
      ),
    ),
  },
  { additionalProperties: false },
)

const Effort = Type.Enum([...efforts])
const Modality = Type.Enum(['text', 'image', 'audio', 'video', 'file'])
const Parameter = Type.String({ minLength: 1 })

export type ReasoningFacts = Static<typeof ReasoningFacts>
const ReasoningFacts = Type.Object(
  {
    supported_efforts: Type.Array(Effort),
    default_effort: Type.Optional(Effort),
    default_enabled: Type.Optional(Type.Boolean()),
    mandatory: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

/** How `performance_mode: fast` is served: by another model, or by the provider's priority tier. */
export type FastMode = Static<typeof FastMode>
const FastMode = Type.Union([
  Type.Object(
    {
      strategy: Type.Literal('model_variant'),
      target_slug: Type.String({ minLength: 1 }),
      pricing: Pricing,
      supported_parameters: Type.Optional(Type.Array(Parameter)),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      strategy: Type.Literal('service_tier'),
      service_tier: Type.Literal('priority'),
      pricing: Pricing,
      supported_parameters: Type.Optional(Type.Array(Parameter)),
    },
    { additionalProperties: false },
  ),
])

/** Where a model is served: a configured provider and that provider's own name for the model. */
export type Route = Static<typeof Route>
const Route = Type.Object(
  {
    provider: Type.String({ minLength: 1 }),
    model: Type.String({ minLength: 1 }),
    weight: Type.Optional(Type.Number({ minimum: 0 })),
    /** `responses`: this model is asked by the provider's Responses API. */
    api: Type.Optional(Type.Enum(['responses'])),
  },
  { additionalProperties: false, examples: [{ provider: 'openai', model: 'gpt-5' }] },
)

/** What is known of a model: an entry of the built-in catalog, and of `models` in weir.yaml. */
export type ModelFacts = Static<typeof ModelFacts>
export const ModelFacts = Type.Object(
  {
    /** `author/model`. */
    slug: Type.String({
      pattern: '^[^/\\s]+/\\S+$',
      description: 'author/model',
      examples: ['author/model'],
    }),
    enabled: Type.Optional(Type.Boolean()),
    display_name: Type.Optional(Type.String({ minLength: 1 })),
    author: Type.Optional(Type.String({ minLength: 1 })),
    /** Release date, YYYY-MM-DD. */
    released: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        description: 'a date as YYYY-MM-DD',
        examples: ['2026-01-31'],
      }),
    ),
    context_window: Type.Optional(Type.Integer({ minimum: 1 })),
    max_output_tokens: Type.Optional(Type.Integer({ minimum: 1 })),
    pricing: Type.Optional(Pricing),
    input_modalities: Type.Optional(Type.Array(Modality)),
    output_modalities: Type.Optional(Type.Array(Modality)),
    supported_parameters: Type.Optional(Type.Array(Parameter)),
    reasoning: Type.Optional(ReasoningFacts),
    fast: Type.Optional(FastMode),
    /** The slug of the model whose fast variant this is. */
    variant_of: Type.Optional(Type.String({ minLength: 1 })),
    aliases: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    routes: Type.Optional(Type.Array(Route, { minItems: 1 })),
  },
  { additionalProperties: false },
)
