import { type Static, Type } from 'typebox'
import { efforts } from '../../domain/generation/request.ts'
import { checkMetadata, Metadata } from '../../http/metadata.ts'
import { FreeObject, Tags, TraceContext, maybe, stringEnum } from '../../http/schema.ts'
import { contract } from '../../lib/validation/contract.ts'

const maxInteger = Number.MAX_SAFE_INTEGER
const PositiveInteger = Type.Integer({ exclusiveMinimum: 0, maximum: maxInteger })

export type ToolCall = Static<typeof ToolCall>
/** A call that a model made; `arguments` is JSON text. */
export const ToolCall = Type.Object(
  {
    id: Type.String(),
    type: Type.Literal('function'),
    function: Type.Object({ name: Type.String(), arguments: Type.String() }),
  },
  { title: 'ToolCall' },
)

export type TextPart = Static<typeof TextPart>
const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() })

export type ImagePart = Static<typeof ImagePart>
const ImagePart = Type.Object({
  type: Type.Literal('image_url'),
  image_url: Type.Object({ url: Type.String(), detail: maybe(Type.String()) }),
})

// A part of a known type must be valid: it must not match as a foreign part.
const foreignType = Type.String({ not: { enum: ['text', 'image_url'] } })
const ForeignPart = Type.Object({ type: foreignType })

export type ContentPart = Static<typeof ContentPart>
/** A part of a message; the properties of a part of another type are not validated. */
export const ContentPart = Type.Union([TextPart, ImagePart, ForeignPart])

/** Whether the part is text. */
export function isTextPart(part: ContentPart): part is TextPart {
  return part.type === 'text'
}

/** Whether the part is an image. */
export function isImagePart(part: ContentPart): part is ImagePart {
  return part.type === 'image_url'
}

export type ChatMessage = Static<typeof ChatMessage>
/** One message of a conversation; `lowerMessages` checks what its role requires. */
export const ChatMessage = Type.Object(
  {
    role: stringEnum(['system', 'user', 'assistant', 'tool', 'developer']),
    content: Type.Optional(Type.Union([Type.String(), Type.Array(ContentPart), Type.Null()])),
    name: maybe(Type.String()),
    tool_calls: maybe(Type.Array(ToolCall)),
    tool_call_id: maybe(Type.String()),
  },
  { title: 'ChatMessage' },
)

export type ChatTool = Static<typeof ChatTool>
const ChatTool = Type.Object(
  {
    type: Type.Literal('function'),
    function: Type.Object({
      name: Type.String(),
      description: maybe(Type.String()),
      parameters: maybe(FreeObject),
    }),
  },
  { title: 'Tool' },
)

const ToolChoice = Type.Union([
  stringEnum(['auto', 'none', 'required']),
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: Type.String() }) }),
])

const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({ name: Type.String(), schema: FreeObject, strict: maybe(Type.Boolean()) }),
  }),
])

const StreamOptions = Type.Object({ include_usage: maybe(Type.Boolean()) }, { additionalProperties: false })

const LogitBias = Type.Unsafe<Readonly<Record<string, number>>>({
  type: 'object',
  additionalProperties: { type: 'number' },
})

export type ChatRequest = Static<typeof ChatRequest>
/** The body of a chat completion request; other properties are allowed. */
export const ChatRequest = Type.Object(
  {
    model: Type.String(),
    messages: Type.Array(ChatMessage, { minItems: 1 }),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: maybe(Type.Number({ minimum: 0, maximum: 1 })),
    max_tokens: maybe(PositiveInteger),
    max_completion_tokens: maybe(PositiveInteger),
    n: maybe(PositiveInteger),
    stop: maybe(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
    stream: maybe(Type.Boolean()),
    stream_options: maybe(StreamOptions),
    tools: maybe(Type.Array(ChatTool)),
    tool_choice: maybe(ToolChoice),
    response_format: maybe(ResponseFormat),
    seed: maybe(Type.Integer({ minimum: -maxInteger, maximum: maxInteger })),
    frequency_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    presence_penalty: maybe(Type.Number({ minimum: -2, maximum: 2 })),
    logit_bias: maybe(LogitBias),
    logprobs: maybe(Type.Boolean()),
    top_logprobs: maybe(Type.Integer({ minimum: 0, maximum: 20 })),
    user: maybe(Type.String()),
    reasoning_effort: maybe(stringEnum(efforts)),
    parallel_tool_calls: maybe(Type.Boolean()),
    service_tier: maybe(stringEnum(['auto', 'default', 'flex', 'priority'])),
    performance_mode: maybe(stringEnum(['standard', 'fast'])),
    store: maybe(Type.Boolean()),
    tags: maybe(Tags),
    metadata: maybe(Metadata),
    trace: maybe(TraceContext),
  },
  { title: 'ChatCompletionRequest' },
)

/** The names of the properties that the schema names. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(ChatRequest.properties))

/** The contract of the request body, with the checks that a schema cannot express. */
export const chatRequest = contract(ChatRequest, checkMetadata)
