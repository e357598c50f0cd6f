import { type Static, Type } from 'typebox'
import { FreeObject } from '../../http/schema.ts'
import { RenderedUsage } from '../../http/usage.ts'

const Choice = Type.Object({
  index: Type.Integer(),
  text: Type.String(),
  /** As the provider sends them: `tokens`, `token_logprobs`, `top_logprobs` and `text_offset`. */
  logprobs: Type.Union([FreeObject, Type.Null()]),
  finish_reason: Type.Union([
    Type.Enum(['stop', 'length', 'content_filter'], { type: 'string' }),
    Type.Null(),
  ]),
})

const replyFields = {
  id: Type.String(),
  object: Type.Literal('text_completion'),
  created: Type.Number(),
  model: Type.String(),
  choices: Type.Array(Choice),
  provider: Type.Optional(Type.String()),
  warnings: Type.Optional(Type.Array(Type.String())),
}

export type Completion = Static<typeof Completion>
/** A complete completion. */
export const Completion = Type.Object({ ...replyFields, usage: RenderedUsage }, { title: 'Completion' })

/** One frame of a streamed completion. */
export const CompletionChunk = Type.Object(
  { ...replyFields, usage: Type.Optional(Type.Union([RenderedUsage, Type.Null()])) },
  { title: 'CompletionChunk' },
)
