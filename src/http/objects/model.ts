import { type Static, type TSchema, Type } from 'typebox'

function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

const price = nullable(Type.Number({ minimum: 0 }))
const slug = Type.String({ minLength: 1 })
const closed = { additionalProperties: false } as const

export type PricingObject = Static<typeof PricingObject>
const PricingObject = Type.Object(
  {
    input: price,
    output: price,
    cache_read: price,
    cache_write: price,
    request: price,
    image: price,
    input_audio: Type.Optional(Type.Number({ minimum: 0 })),
  },
  { ...closed, title: 'Pricing' },
)

const fast = { pricing: PricingObject, supported_parameters: Type.Optional(Type.Array(Type.String())) }

export type FastObject = Static<typeof FastObject>
const FastObject = Type.Union([
  Type.Object({ strategy: Type.Literal('model_variant'), target_slug: slug, ...fast }, closed),
  Type.Object(
    { strategy: Type.Literal('service_tier'), service_tier: Type.Literal('priority'), ...fast },
    closed,
  ),
])

export type PerformanceObject = Static<typeof PerformanceObject>
const PerformanceObject = Type.Union([
  Type.Object(
    { kind: Type.Literal('base'), default_mode: Type.Literal('standard'), fast: Type.Optional(FastObject) },
    closed,
  ),
  Type.Object({ kind: Type.Literal('variant'), mode: Type.Literal('fast'), variant_of: slug }, closed),
])

export type ReasoningObject = Static<typeof ReasoningObject>
const ReasoningObject = Type.Object(
  {
    supported_efforts: Type.Array(Type.String()),
    default_effort: nullable(Type.String()),
    default_enabled: nullable(Type.Boolean()),
    mandatory: nullable(Type.Boolean()),
  },
  closed,
)

const RouteObject = Type.Object(
  { provider: Type.String(), weight: nullable(Type.Number({ minimum: 0 })) },
  closed,
)

export type ModelObject = Static<typeof ModelObject>
/** A model as the API returns it. */
export const ModelObject = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('model'),
    created: Type.Number(),
    /** The day on which its provider stops serving it, YYYY-MM-DD. */
    shutdown_date: nullable(Type.String()),
    owned_by: Type.String(),
    slug: Type.String(),
    display_name: Type.String(),
    /** Absent where no provider of the model has a key. */
    provider: Type.Optional(Type.String()),
    /** The providers in the order in which they are tried; those with a weight share the requests by it. */
    routes: Type.Array(RouteObject),
    author: Type.String(),
    /** The release date, `YYYY-MM-DD`, which `created` has only where it is known. */
    released: nullable(Type.String()),
    context_window: nullable(Type.Number()),
    /** The context window once more, by the names that some clients read. */
    context_length: nullable(Type.Number()),
    max_model_len: nullable(Type.Number()),
    max_output_tokens: nullable(Type.Number()),
    pricing: nullable(PricingObject),
    input_modalities: Type.Array(Type.String()),
    output_modalities: Type.Array(Type.String()),
    supported_parameters: Type.Array(Type.String()),
    supported_apis: Type.Array(Type.String()),
    reasoning: nullable(ReasoningObject),
    performance: nullable(PerformanceObject),
  },
  { ...closed, title: 'Model' },
)

/** The list of the enabled models. */
export const ModelList = Type.Object(
  {
    object: Type.Literal('list'),
    data: Type.Array(ModelObject),
    models: Type.Optional(
      Type.Array(Type.Never(), { description: 'Always empty; only with `client_version`, for Codex.' }),
    ),
  },
  { ...closed, title: 'ModelList' },
)
