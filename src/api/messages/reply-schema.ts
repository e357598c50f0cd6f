import { type Static, Type } from 'typebox'
import { FreeObject } from '../../http/schema.ts'

const text = Type.String()
const textOrNull = Type.Union([Type.String(), Type.Null()])
const count = Type.Integer()

export type MessageUsage = Static<typeof MessageUsage>
/** Token counts. `input_tokens` excludes the tokens that were read from a cache or written to it. */
export const MessageUsage = Type.Object(
  {
    input_tokens: count,
    cache_creation_input_tokens: count,
    cache_read_input_tokens: count,
    cache_creation: Type.Object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }),
    output_tokens: count,
    output_tokens_details: Type.Optional(Type.Object({ thinking_tokens: count })),
    service_tier: Type.Optional(textOrNull),
  },
  { title: 'MessageUsage' },
)

const OutputBlock = Type.Object({ type: text }, { title: 'ContentBlock' })

export type MessageObject = Static<typeof MessageObject>
/** A complete message of a model. */
export const MessageObject = Type.Object(
  {
    id: text,
    type: Type.Literal('message'),
    role: Type.Literal('assistant'),
    model: text,
    content: Type.Array(OutputBlock),
    stop_reason: textOrNull,
    stop_sequence: textOrNull,
    usage: MessageUsage,
    warnings: Type.Optional(Type.Array(text)),
  },
  { title: 'Message' },
)

export type MessageDelta = Static<typeof MessageDelta>
const MessageDelta = Type.Object({
  type: Type.Literal('message_delta'),
  delta: Type.Object({ stop_reason: textOrNull, stop_sequence: textOrNull }),
  usage: MessageUsage,
  warnings: Type.Optional(Type.Array(text)),
})

/** The data of one event of a streamed message. */
export const MessageStreamEvent = Type.Union(
  [
    Type.Object({ type: Type.Literal('message_start'), message: MessageObject }),
    Type.Object({ type: Type.Literal('content_block_start'), index: count, content_block: OutputBlock }),
    Type.Object({ type: Type.Literal('content_block_delta'), index: count, delta: FreeObject }),
    Type.Object({ type: Type.Literal('content_block_stop'), index: count }),
    MessageDelta,
    Type.Object({ type: Type.Literal('message_stop') }),
    Type.Object({ type: Type.Literal('ping') }),
    Type.Object({ type: Type.Literal('error'), error: Type.Object({ type: text, message: text }) }),
  ],
  { title: 'MessageStreamEvent' },
)

/** The number of tokens of a prompt. */
export const TokenCount = Type.Object({ input_tokens: count }, { title: 'TokenCount' })
