import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { fieldsOf } from '../../lib/json/json.ts'

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
  return models.map(([id, model]) => readModel(model, `${provider}.models.${id}`))
}

function readModel(model: unknown, path: string): SourceModel {
  if (validator.Check(model)) return model
  const [first] = validator.Errors(model)
  throw new Error(`${path}${first?.instancePath ?? ''}: ${first?.message ?? 'not as expected'}`)
}
