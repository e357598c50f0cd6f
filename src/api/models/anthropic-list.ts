import { type Static, Type } from 'typebox'
import type { Model } from '../../gateway/models/model.ts'
import type { Models } from '../../gateway/models/models.ts'
import { defineQuery } from '../../http/query.ts'
import { badRequest } from '../../lib/errors/errors.ts'

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
/** A model in the form of Anthropic's API. */
export const AnthropicModel = Type.Object(
  {
    type: Type.Literal('model'),
    id: Type.String(),
    display_name: Type.String(),
    created_at: Type.String(),
    max_input_tokens: tokens,
    max_tokens: tokens,
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
  const start = after_id === undefined ? 0 : indexOf(enabled, after_id, 'after_id') + 1
  const end = before_id === undefined ? enabled.length : indexOf(enabled, before_id, 'before_id')
  const range = enabled.slice(start, Math.max(start, end))
  const page = before_id === undefined ? range.slice(0, limit) : range.slice(-limit)
  return {
    data: page.map(renderAnthropicModel),
    has_more: page.length < range.length,
    first_id: page[0]?.slug ?? null,
    last_id: page.at(-1)?.slug ?? null,
  }
}

/** Renders a model in the form of Anthropic's API. */
export function renderAnthropicModel(model: Model): AnthropicModel {
  return {
    type: 'model',
    id: model.slug,
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString(),
    max_input_tokens: model.contextWindow ?? null,
    max_tokens: model.maxOutputTokens ?? null,
  }
}

function indexOf(models: readonly Model[], id: string, param: string): number {
  const index = models.findIndex(({ slug }) => slug === id)
  if (index < 0) throw badRequest(`Invalid '${param}': it is not the id of a model.`, 'invalid_value', param)
  return index
}
