import { type Static, Type } from 'typebox'
import { efforts } from '../../domain/generation/request.ts'
import { checkMetadata, Metadata } from '../../http/metadata.ts'
import { FreeObject, Tags, TraceContext, nullish, stringEnum } from '../../http/schema.ts'
import { createValidator } from '../../lib/validation/validator.ts'

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
  image_url: Type.Object({ url: Type.String(), detail: nullish(Type.String()) }),
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
    name: nullish(Type.String()),
    tool_calls: nullish(Type.Array(ToolCall)),
    tool_call_id: nullish(Type.String()),
  },
  { title: 'ChatMessage' },
)

export type ChatTool = Static<typeof ChatTool>
const ChatTool = Type.Object(
  {
    type: Type.Literal('function'),
    function: Type.Object({
      name: Type.String(),
      description: nullish(Type.String()),
      parameters: nullish(FreeObject),
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
    json_schema: Type.Object({ name: Type.String(), schema: FreeObject, strict: nullish(Type.Boolean()) }),
  }),
])

const StreamOptions = Type.Object({ include_usage: nullish(Type.Boolean()) }, { additionalProperties: false })

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
    temperature: nullish(Type.Number({ minimum: 0, maximum: 2 })),
    top_p: nullish(Type.Number({ minimum: 0, maximum: 1 })),
    max_tokens: nullish(PositiveInteger),
    max_completion_tokens: nullish(PositiveInteger),
    n: nullish(PositiveInteger),
    stop: nullish(Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 4 })])),
    stream: nullish(Type.Boolean()),
    stream_options: nullish(StreamOptions),
    tools: nullish(Type.Array(ChatTool)),
    tool_choice: nullish(ToolChoice),
    response_format: nullish(ResponseFormat),
    seed: nullish(Type.Integer({ minimum: -maxInteger, maximum: maxInteger })),
    frequency_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    presence_penalty: nullish(Type.Number({ minimum: -2, maximum: 2 })),
    logit_bias: nullish(LogitBias),
    logprobs: nullish(Type.Boolean()),
    top_logprobs: nullish(Type.Integer({ minimum: 0, maximum: 20 })),
    user: nullish(Type.String()),
    reasoning_effort: nullish(stringEnum(efforts)),
    parallel_tool_calls: nullish(Type.Boolean()),
    service_tier: nullish(stringEnum(['auto', 'default', 'flex', 'priority'])),
    performance_mode: nullish(stringEnum(['standard', 'fast'])),
    store: nullish(Type.Boolean()),
    tags: nullish(Tags),
    metadata: nullish(Metadata),
    trace: nullish(TraceContext),
  },
  { title: 'ChatCompletionRequest' },
)

/** The names of the properties that the schema names. */
export const knownProperties: ReadonlySet<string> = new Set(Object.keys(ChatRequest.properties))

/** The contract of the request body, with the checks that a schema cannot express. */
export const chatRequest = createValidator(ChatRequest, checkMetadata)
