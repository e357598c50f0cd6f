import { type Static, type TSchema, Type } from 'typebox'
import { RenderedCitation } from '../../http/citation.ts'
import { FreeObject } from '../../http/schema.ts'
import { RenderedUsage } from '../../http/usage.ts'
import { ToolCall } from './message-schema.ts'

const text = Type.String()
const textOrNull = Type.Union([Type.String(), Type.Null()])
const count = Type.Number()

const FinishReason = Type.Union([
  Type.Enum(['stop', 'length', 'tool_calls', 'content_filter'], { type: 'string' }),
  Type.Null(),
])

/** The properties that a completion and each of its chunks have in common. */
const replyFields = {
  provider: Type.Optional(text),
  warnings: Type.Optional(Type.Array(text)),
  service_tier: Type.Optional(
    Type.Union([Type.Enum(['default', 'priority'], { type: 'string' }), Type.Null()]),
  ),
  performance_mode: Type.Optional(Type.Enum(['standard', 'fast'], { type: 'string' })),
}

/** The log probabilities of the tokens, as the provider sends them. */
const Logprobs = Type.Object(
  {
    content: Type.Union([Type.Array(FreeObject), Type.Null()]),
    refusal: Type.Union([Type.Array(FreeObject), Type.Null()]),
  },
  { title: 'Logprobs' },
)

export type Annotation = Static<typeof Annotation>
/** A web page that the text cites. */
const Annotation = Type.Object(
  { type: Type.Literal('url_citation'), url_citation: RenderedCitation },
  { title: 'ChatAnnotation' },
)

/** Only present where the provider cites pages. */
const annotations = Type.Optional(Type.Array(Annotation))

const Choice = Type.Object({
  index: count,
  message: Type.Object({
    role: text,
    content: textOrNull,
    tool_calls: Type.Optional(Type.Array(ToolCall)),
    reasoning: Type.Optional(textOrNull),
    annotations,
  }),
  finish_reason: FinishReason,
  logprobs: Type.Union([Logprobs, Type.Null()]),
})

export type ChatCompletion = Static<typeof ChatCompletion>
/** A complete completion; only a stored one has `metadata`. */
export const ChatCompletion = Type.Object(
  {
    id: text,
    object: Type.Literal('chat.completion'),
    created: count,
    model: text,
    choices: Type.Array(Choice),
    usage: RenderedUsage,
    ...replyFields,
    metadata: Type.Optional(Type.Union([FreeObject, Type.Null()])),
  },
  { title: 'ChatCompletion' },
)

/** A complete call in one chunk; clients order the calls by `index`. */
const IndexedToolCall = Type.Object({ index: Type.Integer(), ...ToolCall.properties })

export type ChatCompletionChunk = Static<typeof ChatCompletionChunk>
/** One frame of a streamed completion. */
export const ChatCompletionChunk = chunkOf(IndexedToolCall)

/** A further fragment of the arguments of a call whose first chunk had its id, its name and no arguments. */
const ToolCallFragment = Type.Object({
  index: Type.Integer(),
  function: Type.Object({ arguments: text }),
})

export type FragmentedChunk = Static<typeof FragmentedChunk>
/** One frame of a streamed completion whose tool calls come in fragments. */
export const FragmentedChunk = chunkOf(Type.Union([IndexedToolCall, ToolCallFragment]))

function chunkOf<Call extends TSchema>(call: Call) {
  return Type.Object(
    {
      id: text,
      object: Type.Literal('chat.completion.chunk'),
      created: count,
      model: text,
      choices: Type.Array(choiceOf(call)),
      usage: Type.Optional(Type.Union([RenderedUsage, Type.Null()])),
      ...replyFields,
    },
    { title: 'ChatCompletionChunk' },
  )
}

function choiceOf<Call extends TSchema>(call: Call) {
  const delta = Type.Object({
    role: Type.Optional(text),
    content: Type.Optional(textOrNull),
    tool_calls: Type.Optional(Type.Array(call)),
    reasoning: Type.Optional(textOrNull),
    annotations,
  })
  return Type.Object({
    index: count,
    delta,
    logprobs: Type.Optional(Logprobs),
    finish_reason: FinishReason,
  })
}
