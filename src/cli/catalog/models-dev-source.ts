import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { fieldsOf } from '../../lib/json/json.ts'
import type { DirectProvider } from './direct-providers.ts'

const price = Type.Optional(Type.Number({ minimum: 0 }))
const prices = { input: price, output: price, cache_read: price, cache_write: price, input_audio: price }

/** The prices of a model in the format of models.dev. */
export type SourceCost = Static<typeof SourceCost>
const SourceCost = Type.Object({
  ...prices,
  /** Another spelling of `cache_read`. */
  cached_input: price,
  tiers: Type.Optional(Type.Array(Type.Object({ tier: Type.Object({ size: Type.Integer() }), ...prices }))),
  /** The older format of a single tier. */
  context_over_200k: Type.Optional(Type.Object(prices)),
})

/** A way to configure the reasoning of a model, in the format of models.dev. */
type ReasoningOption = Static<typeof ReasoningOption>
const ReasoningOption = Type.Object({
  type: Type.String(),
  values: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Null()]))),
  min: Type.Optional(Type.Number()),
})

/** A model of models.dev, with the fields that the catalog uses. */
export type SourceModel = Static<typeof SourceModel>
const SourceModel = Type.Object({
  id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1 }),
  release_date: Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}(-\\d{2})?$' })),
  status: Type.Optional(Type.String()),
  reasoning: Type.Boolean(),
  reasoning_options: Type.Optional(Type.Array(ReasoningOption)),
  temperature: Type.Optional(Type.Boolean()),
  tool_call: Type.Boolean(),
  structured_output: Type.Optional(Type.Boolean()),
  limit: Type.Object({ context: Type.Integer(), output: Type.Integer() }),
  modalities: Type.Object({ input: Type.Array(Type.String()), output: Type.Array(Type.String()) }),
  cost: Type.Optional(SourceCost),
  /** Prices from later days on, which only additions have, like the three below. */
  cost_from: Type.Optional(Type.Array(Type.Object({ from: Type.String(), cost: SourceCost }))),
  /** Prices by a rule of the provider that it has not published for this model. */
  derived: Type.Optional(Type.Partial(Type.Omit(SourceCost, ['cached_input']))),
  default_effort: Type.Optional(Type.String()),
  aliases: Type.Optional(Type.Array(Type.String())),
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

/** Called with what is wrong with an entry, which is skipped. */
export type OnInvalid = (path: string, reason: string) => void

/** Parses the models of a provider; by default, throws if the provider is missing or a model is invalid. */
export function sourceModels(
  file: unknown,
  provider: string,
  onInvalid: OnInvalid = throwInvalid,
): SourceModel[] {
  const entry = fieldsOf(fieldsOf(file)[provider])
  const models = Object.entries(fieldsOf(entry.models))
  if (models.length === 0) onInvalid(provider, 'the file has no models of it')
  return models.flatMap(([id, model]) => {
    if (validator.Check(model)) return [model]
    const [, [first]] = validator.Errors(model)
    const path = `${provider}.models.${id}${first?.instancePath ?? ''}`
    onInvalid(path, first?.message ?? 'not as expected')
    return []
  })
}

function throwInvalid(path: string, reason: string): never {
  throw new Error(`${path}: ${reason}`)
}

/** A model and its provider. */
export type SelectedModel = { readonly provider: DirectProvider; readonly model: SourceModel }

/** True for a model that outputs text. */
export function hasText({ modalities }: SourceModel): boolean {
  return modalities.output.includes('text')
}

/** True for a model that its provider has stopped serving, or will soon. */
export function isDeprecated({ status }: SourceModel): boolean {
  return status === 'deprecated'
}

/** False for embedding, transcription and image models, which the source lists with text output too. */
export function isChatModel(model: SourceModel): boolean {
  const { modalities, limit, reasoning } = model
  return modalities.input.includes('text') && (limit.context > 0 || reasoning) && !isEmbeddingModel(model)
}

/** True for a model that embeds text: its input has a price, and its output costs nothing. */
export function isEmbeddingModel({ modalities, cost }: SourceModel): boolean {
  return modalities.input.includes('text') && cost?.output === 0 && (cost.input ?? 0) > 0
}

/**
 * True where OpenAI's Responses API is to be used. The pro, codex and deep-research models have no other, according to
 * the list of endpoints on the page of each model. From GPT-5.4 on, chat completions reject function tools while the
 * model reasons. The source has neither fact.
 */
export function usesResponses(provider: DirectProvider, { id }: SourceModel): boolean {
  return provider.name === 'openai' && /-pro$|-codex|-deep-research$|^gpt-(5\.[4-9]|6)(?!.*chat)/.test(id)
}
