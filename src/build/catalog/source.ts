import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { fieldsOf } from '../../lib/json/json.ts'
import { type DirectProvider, directProviders } from './direct-providers.ts'

const price = Type.Optional(Type.Number({ minimum: 0 }))
const prices = { input: price, output: price, cache_read: price, cache_write: price }

/** What a model costs, as models.dev writes it. */
export type SourceCost = Static<typeof SourceCost>
const SourceCost = Type.Object({
  ...prices,
  /** Another spelling of `cache_read`. */
  cached_input: price,
  tiers: Type.Optional(Type.Array(Type.Object({ tier: Type.Object({ size: Type.Integer() }), ...prices }))),
  /** The older way to write one tier. */
  context_over_200k: Type.Optional(Type.Object(prices)),
})

/** A way in which the reasoning of a model can be set, as models.dev writes it. */
export type ReasoningOption = Static<typeof ReasoningOption>
const ReasoningOption = Type.Object({
  type: Type.String(),
  values: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Null()]))),
  min: Type.Optional(Type.Number()),
})

/** The fields of a model in the file of models.dev that the catalog is made from. */
export type SourceModel = Static<typeof SourceModel>
const SourceModel = Type.Object({
  id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  release_date: Type.String({ pattern: '^\\d{4}-\\d{2}(-\\d{2})?$' }),
  status: Type.Optional(Type.String()),
  reasoning: Type.Boolean(),
  reasoning_options: Type.Optional(Type.Array(ReasoningOption)),
  temperature: Type.Optional(Type.Boolean()),
  tool_call: Type.Boolean(),
  structured_output: Type.Optional(Type.Boolean()),
  limit: Type.Object({ context: Type.Integer(), output: Type.Integer() }),
  modalities: Type.Object({ input: Type.Array(Type.String()), output: Type.Array(Type.String()) }),
  cost: Type.Optional(SourceCost),
  experimental: Type.Optional(
    Type.Object({
      modes: Type.Optional(
        Type.Object({
          fast: Type.Optional(
            Type.Object({
              cost: Type.Optional(SourceCost),
              provider: Type.Optional(
                Type.Object({ body: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }),
              ),
            }),
          ),
        }),
      ),
    }),
  ),
})
const validator = Compile(SourceModel)

/** The models of one provider of the file, by id. */
export function sourceModels(file: unknown, provider: string): SourceModel[] {
  const entry = fieldsOf(fieldsOf(file)[provider])
  const models = Object.entries(fieldsOf(entry.models))
  if (models.length === 0) throw new Error(`The file has no models of ${provider}.`)
  return models.map(([id, model]) => parseModel(model, `${provider}.models.${id}`))
}

function parseModel(model: unknown, path: string): SourceModel {
  if (validator.Check(model)) return model
  const [first] = validator.Errors(model)
  throw new Error(`${path}${first?.instancePath ?? ''}: ${first?.message ?? 'not as expected'}`)
}

/** A model of the file, with the provider that serves it. */
export type SelectedModel = { readonly provider: DirectProvider; readonly model: SourceModel }

/** The models of the direct providers that answer with text and that their provider does not give up. */
export function selectModels(file: unknown): SelectedModel[] {
  return directProviders.flatMap((provider) =>
    sourceModels(file, provider.source)
      .filter(({ modalities, status }) => modalities.output.includes('text') && status !== 'deprecated')
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map((model) => ({ provider, model })),
  )
}

/** False for what makes vectors, transcripts or pictures: listed as text output, but no partner in a chat. */
export function isChatModel({ modalities, limit, cost }: SourceModel): boolean {
  const isEmbedding = cost?.output === 0 && cost.input !== 0
  return modalities.input.includes('text') && limit.context > 0 && !isEmbedding
}

/**
 * True for models that OpenAI serves by its Responses API alone: the pro models, the coding models and those for
 * research, by the list of endpoints on each model's page. The source does not say it.
 */
export function isResponsesOnly(provider: DirectProvider, { id }: SourceModel): boolean {
  return provider.name === 'openai' && /-pro$|-codex|-deep-research$/.test(id)
}
