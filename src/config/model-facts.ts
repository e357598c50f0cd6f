import { type Static, Type } from 'typebox'
import { modelApis } from '../domain/generation/model-apis.ts'
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

/** The prices of a model. */
export type Pricing = Static<typeof Pricing>
export const Pricing = Type.Object(
  {
    ...prices,
    /** Prices for the entire request if its prompt has more than `above` tokens. */
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

/** How the reasoning of a model can be configured. */
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

/** How `performance_mode: fast` is served: by another model, or by the priority tier of the provider. */
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

/** A configured provider of a model, and the name of the model there. */
export type Route = Static<typeof Route>
const Route = Type.Object(
  {
    provider: Type.String({ minLength: 1 }),
    model: Type.String({ minLength: 1 }),
    weight: Type.Optional(Type.Number({ minimum: 0 })),
    /** `responses`: use the Responses API of the provider for this model. */
    api: Type.Optional(Type.Enum(['responses'])),
  },
  { additionalProperties: false, examples: [{ provider: 'openai', model: 'gpt-5' }] },
)

/** A model in the built-in catalog, or in `models` of weir.yaml. */
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
    /** The APIs that the model serves. */
    supported_apis: Type.Optional(Type.Array(Type.Enum([...modelApis]), { minItems: 1 })),
    reasoning: Type.Optional(ReasoningFacts),
    fast: Type.Optional(FastMode),
    /** The slug of the model that this is the fast variant of. */
    variant_of: Type.Optional(Type.String({ minLength: 1 })),
    aliases: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
    routes: Type.Optional(Type.Array(Route, { minItems: 1 })),
  },
  { additionalProperties: false },
)
