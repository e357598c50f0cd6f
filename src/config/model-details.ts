import { type Static, Type } from 'typebox'
import { modelApis } from '../domain/generation/parameters.ts'
import { efforts } from '../domain/generation/request.ts'
import { closed, count, duration, flag, group, optional, text } from './setting-types.ts'

/** An amount in USD. */
const price = (description: string) => Type.Number({ minimum: 0, description, examples: [0.25] })
const prices = optional({
  input: price('USD for a million prompt tokens.'),
  output: price('USD for a million output tokens.'),
  cache_read: price('USD for a million prompt tokens that the provider has cached.'),
  cache_write: price('USD for a million prompt tokens that are written to its cache.'),
  input_audio: price(
    'USD for a million audio tokens of the prompt, where they cost more or less than others.',
  ),
  request: price('USD for a request.'),
  image: price('USD for an image in the prompt.'),
})

/** The prices of a model. */
export type Pricing = Static<typeof Pricing>
export const Pricing = Type.Object(
  {
    ...prices,
    tiers: Type.Optional(
      Type.Array(
        Type.Object(
          {
            above: Type.Integer({
              minimum: 1,
              description: 'Prompt tokens above which these prices apply.',
              examples: [200_000],
            }),
            ...prices,
          },
          closed,
        ),
        { description: 'Prices for the entire request if its prompt is long.' },
      ),
    ),
  },
  {
    ...closed,
    description: 'The prices of the model, from which costs and balances are computed.',
    examples: [{ input: 0.25, output: 2 }],
  },
)

/** A day. */
export const date = (description: string, example: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    expected: 'a date in the format YYYY-MM-DD',
    description,
    examples: [example],
  })

/** Prices that replace all earlier ones of a model from a day on. */
type PriceChange = Static<typeof PriceChange>
const PriceChange = Type.Object(
  {
    effective_from: date('The first day of these prices, which begins at midnight of UTC.', '2027-01-01'),
    pricing: Type.Object(Pricing.properties, { ...closed, description: 'All prices from that day on.' }),
  },
  closed,
)

const Effort = Type.Enum([...efforts])
const Modality = Type.Enum(['text', 'image', 'audio', 'video', 'file'])
const Parameter = Type.String({ minLength: 1 })
const effort = (description: string) => Type.Enum([...efforts], { description })

/** How the reasoning of a model can be configured. */
export type ReasoningDetails = Static<typeof ReasoningDetails>
const ReasoningDetails = Type.Object(
  {
    supported_efforts: Type.Array(Effort, {
      description: 'The values of `reasoning_effort` that the model supports.',
    }),
    ...optional({
      default_effort: effort('The effort of a request that has none.'),
      default_enabled: flag('Whether the model reasons by default.'),
      mandatory: flag('Whether the model always reasons.'),
    }),
  },
  { ...closed, description: 'How the reasoning of the model can be configured.' },
)

const fastPricing = Type.Object(Pricing.properties, { ...closed, description: 'The prices in fast mode.' })
const fastParameters = Type.Array(Parameter, {
  description: 'The parameters in fast mode, if they differ.',
})

/** How `performance_mode: fast` is served: by another model, or by the priority tier of the provider. */
export type FastMode = Static<typeof FastMode>
const FastMode = Type.Union(
  [
    Type.Object(
      {
        strategy: Type.Literal('model_variant', {
          description: '`model_variant`: another model serves the request.',
        }),
        target_slug: text('With `model_variant`: the slug of that model.', 'acme/river-7b-fast'),
        pricing: fastPricing,
        supported_parameters: Type.Optional(fastParameters),
      },
      closed,
    ),
    Type.Object(
      {
        strategy: Type.Literal('service_tier', {
          description: '`service_tier`: a tier of the provider serves it.',
        }),
        service_tier: Type.Literal('priority', { description: 'With `service_tier`: the tier.' }),
        pricing: fastPricing,
        supported_parameters: Type.Optional(fastParameters),
      },
      closed,
    ),
  ],
  {
    description: 'How `performance_mode: fast` is served: by another model, or by a tier of the provider.',
  },
)

/** Kinds of failure after which a request may go on to another route. */
export type FailureKind = (typeof failureKinds)[number]
const failureKinds = ['unavailable', 'rate_limited', 'timeout', 'context_length'] as const

/** A configured provider of a model, and the name of the model there. */
export type Route = Static<typeof Route>
const Route = Type.Object(
  {
    provider: text('The name of a provider.', 'openai'),
    model: text('The name of the model at the provider.', 'gpt-6-luna'),
    ...optional({
      weight: Type.Number({
        minimum: 0,
        description:
          'The share of requests of this route; 1 beside routes that have a weight. Without any, routes are tried in their order.',
      }),
      api: Type.Enum(['responses'], {
        description: 'Uses the Responses API of the provider for this model.',
      }),
      on: Type.Array(Type.Enum([...failureKinds]), {
        description:
          'The failures after which the next route is tried; `context_length`: its prompt is too long for this one.',
        examples: [['unavailable', 'timeout', 'context_length']],
      }),
      context_window: count(
        'Tokens of prompt and output together on this route, if not those of the model.',
        32_768,
      ),
    }),
  },
  { ...closed, examples: [{ provider: 'openai', model: 'gpt-6-luna' }] },
)

const modalities = (description: string) => Type.Array(Modality, { description })

/** A model in the built-in catalog, or in `models` of weir.yaml. */
export type ModelDetails = Static<typeof ModelDetails>
export const ModelDetails = Type.Object(
  {
    slug: Type.String({
      pattern: '^[^/\\s]+/\\S+$',
      expected: 'author/model',
      description: 'The name of the model in requests.',
      examples: ['author/model'],
    }),
    ...optional({
      enabled: flag(
        '`false` disables the model. By default it is enabled if a provider of its routes is configured.',
        false,
      ),
      display_name: text('The name for people, in the list of models.', 'River 7B'),
      author: text('Who made the model.', 'acme'),
      released: date('The date of its release.', '2026-01-31'),
      shutdown_date: date('The day on which its provider stops serving it.', '2027-01-31'),
      context_window: count('Tokens of prompt and output together.', 131_072),
      max_output_tokens: count('The largest number of output tokens.', 16_384),
      pricing: Pricing,
      price_changes: Type.Array(PriceChange, {
        description: 'Prices from later days on. A request pays the prices of its beginning.',
        examples: [[{ effective_from: '2027-01-01', pricing: { input: 0.5, output: 4 } }]],
      }),
      input_modalities: modalities('What the model reads.'),
      output_modalities: modalities('What the model writes.'),
      supported_parameters: Type.Array(Parameter, {
        description: 'The parameters that the model supports; by default those of the protocol.',
        examples: [['temperature', 'tools']],
      }),
      supported_apis: Type.Array(Type.Enum([...modelApis]), {
        minItems: 1,
        description:
          'The APIs that the model serves; by default those of conversations. An embedding model has `[embeddings]`.',
        examples: [['embeddings']],
      }),
      reasoning: ReasoningDetails,
      fast: FastMode,
      variant_of: text('The slug of the model that this is the fast variant of.', 'acme/river-7b'),
      aliases: Type.Array(Type.String({ minLength: 1 }), {
        description: 'Other names of the model in requests.',
        examples: [['fast']],
      }),
      timeouts: group('How long a request waits for a route of this model.', {
        first_token: duration(
          'Until the first token of a stream; then the next route is tried. At most 24h.',
          '10s',
        ),
      }),
      routes: Type.Array(Route, {
        minItems: 1,
        description: 'The providers that serve the model, at which name. Several make failover possible.',
      }),
      affinity: Type.Enum(['session', 'none'], {
        description:
          'Whether one of the weighted routes serves a whole session; `none` draws one for each request. Default: `session`.',
        examples: ['none'],
      }),
    }),
  },
  closed,
)
