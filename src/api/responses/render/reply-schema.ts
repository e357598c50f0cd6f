import { type Static, Type } from 'typebox'
import { RenderedCitation } from '../../../http/citation.ts'
import { listSchema } from '../../../http/paging.ts'
import { FreeObject } from '../../../http/schema.ts'

const text = Type.String()
const count = Type.Integer()
const textOrNull = Type.Union([Type.String(), Type.Null()])
const numberOrNull = Type.Union([Type.Number(), Type.Null()])

/** A web page that the text cites. */
const Annotation = Type.Object(
  { type: Type.Literal('url_citation'), ...RenderedCitation.properties },
  { title: 'ResponseAnnotation' },
)

export type OutputText = Static<typeof OutputText>
/** The text of a message, as its part. */
export const OutputText = Type.Object(
  {
    type: Type.Literal('output_text'),
    text,
    annotations: Type.Array(Annotation),
    logprobs: Type.Array(FreeObject),
  },
  { title: 'ResponseOutputText' },
)

export type SummaryText = Static<typeof SummaryText>
/** The text of a reasoning item, as its part. */
export const SummaryText = Type.Object(
  { type: Type.Literal('summary_text'), text },
  { title: 'ResponseSummaryText' },
)

const OutputMessage = Type.Object(
  {
    type: Type.Literal('message'),
    id: text,
    status: Type.Enum(['in_progress', 'completed', 'incomplete'], { type: 'string' }),
    role: Type.Literal('assistant'),
    content: Type.Array(OutputText),
  },
  { title: 'ResponseOutputMessage' },
)

const ReasoningItem = Type.Object(
  {
    type: Type.Literal('reasoning'),
    id: text,
    summary: Type.Array(SummaryText),
    encrypted_content: Type.Optional(Type.String()),
  },
  { title: 'ResponseReasoningItem' },
)

/** The namespace of the tool is only present where the request has it. */
const call = {
  id: text,
  status: Type.Enum(['in_progress', 'completed', 'incomplete'], { type: 'string' }),
  call_id: text,
  name: text,
  namespace: Type.Optional(Type.String()),
}

const FunctionCall = Type.Object(
  { type: Type.Literal('function_call'), ...call, arguments: text },
  { title: 'ResponseFunctionCall' },
)

const CustomToolCall = Type.Object(
  { type: Type.Literal('custom_tool_call'), ...call, input: text },
  { title: 'ResponseCustomToolCall' },
)

export type OutputItem = Static<typeof OutputItem>
/** An item of the output. */
export const OutputItem = Type.Union([OutputMessage, ReasoningItem, FunctionCall, CustomToolCall])

export type ResponseUsage = Static<typeof ResponseUsage>
/** The token counts of a response. */
export const ResponseUsage = Type.Object(
  {
    input_tokens: count,
    input_tokens_details: Type.Object({
      cached_tokens: count,
      cache_write_tokens: Type.Optional(count),
    }),
    output_tokens: count,
    output_tokens_details: Type.Object({ reasoning_tokens: count }),
    total_tokens: count,
  },
  { title: 'ResponseUsage' },
)

export type ResponseError = Static<typeof ResponseError>
const ResponseError = Type.Object({ code: textOrNull, message: text }, { title: 'ResponseError' })

const Reasoning = Type.Object({ effort: textOrNull, summary: textOrNull })

/** The properties that clients of OpenAI's API expect; most values are constants here. */
const expectedByClients = {
  service_tier: text,
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  top_logprobs: count,
  max_tool_calls: Type.Null(),
  safety_identifier: Type.Null(),
  prompt_cache_key: Type.Null(),
}

export type ResponseObject = Static<typeof ResponseObject>
/** A response in any status. */
export const ResponseObject = Type.Object(
  {
    id: text,
    object: Type.Literal('response'),
    created_at: count,
    status: Type.Enum(['queued', 'in_progress', 'completed', 'failed', 'incomplete'], { type: 'string' }),
    background: Type.Boolean(),
    completed_at: Type.Union([count, Type.Null()]),
    error: Type.Union([ResponseError, Type.Null()]),
    incomplete_details: Type.Union([Type.Object({ reason: text }), Type.Null()]),
    instructions: textOrNull,
    max_output_tokens: numberOrNull,
    model: text,
    output: Type.Array(OutputItem),
    parallel_tool_calls: Type.Boolean(),
    previous_response_id: textOrNull,
    provider: Type.Optional(text),
    reasoning: Type.Union([Reasoning, Type.Null()]),
    store: Type.Boolean(),
    temperature: numberOrNull,
    text: Type.Object({ format: Type.Object({ type: text }) }),
    tool_choice: Type.Unknown(),
    tools: Type.Array(FreeObject),
    top_p: numberOrNull,
    truncation: textOrNull,
    usage: Type.Union([ResponseUsage, Type.Null()]),
    user: textOrNull,
    metadata: FreeObject,
    ...expectedByClients,
    warnings: Type.Optional(Type.Array(text)),
  },
  { title: 'Response' },
)

export type DeletedResponse = Static<typeof DeletedResponse>
/** The reply to the deletion of a response. */
export const DeletedResponse = Type.Object(
  { id: text, object: Type.Literal('response.deleted'), deleted: Type.Literal(true) },
  { title: 'DeletedResponse' },
)

export type InputItemList = Static<typeof InputItemList>
/** A page of input items; an item has all the fields of the request. */
export const InputItemList = listSchema(Type.Object({ id: text, type: text }), 'ResponseInputItemList')

/** A page of stored responses. */
export const ResponseList = listSchema(ResponseObject, 'ResponseList')

export type InputTokens = Static<typeof InputTokens>
/** The token count of an input. */
export const InputTokens = Type.Object(
  { object: Type.Literal('response.input_tokens'), input_tokens: count },
  { title: 'ResponseInputTokens' },
)
