import { type Static, type TProperties, Type } from 'typebox'
import { FreeObject } from '../../../http/schema.ts'
import { OutputItem, OutputText, ResponseObject, SummaryText } from './reply-schema.ts'

const text = Type.String()
const count = Type.Integer()
const textOrNull = Type.Union([Type.String(), Type.Null()])

/** Always empty: they are never requested from a model. */
const logprobs = Type.Array(FreeObject)

const SnapshotEvent = event(
  'ResponseSnapshotEvent',
  [
    'response.created',
    'response.queued',
    'response.in_progress',
    'response.completed',
    'response.incomplete',
    'response.failed',
  ],
  { response: ResponseObject },
)

const ItemEvent = event(
  'ResponseOutputItemEvent',
  ['response.output_item.added', 'response.output_item.done'],
  { output_index: count, item: OutputItem },
)

/** The position of the text of a message in the output. */
const contentPosition = { item_id: text, output_index: count, content_index: count }

const ContentPartEvent = event(
  'ResponseContentPartEvent',
  ['response.content_part.added', 'response.content_part.done'],
  { ...contentPosition, part: OutputText },
)

const TextDelta = event('ResponseTextDeltaEvent', ['response.output_text.delta'], {
  ...contentPosition,
  delta: text,
  logprobs,
})

const TextDone = event('ResponseTextDoneEvent', ['response.output_text.done'], {
  ...contentPosition,
  text,
  logprobs,
})

/** The position of the text of a reasoning item in the output. */
const summaryPosition = { item_id: text, output_index: count, summary_index: count }

const SummaryPartEvent = event(
  'ResponseSummaryPartEvent',
  ['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'],
  { ...summaryPosition, part: SummaryText, status: Type.Optional(Type.Literal('incomplete')) },
)

const SummaryDelta = event('ResponseSummaryTextDeltaEvent', ['response.reasoning_summary_text.delta'], {
  ...summaryPosition,
  delta: text,
})

const SummaryDone = event('ResponseSummaryTextDoneEvent', ['response.reasoning_summary_text.done'], {
  ...summaryPosition,
  text,
})

const itemPosition = { item_id: text, output_index: count }

const CallDelta = event(
  'ResponseCallDeltaEvent',
  ['response.function_call_arguments.delta', 'response.custom_tool_call_input.delta'],
  { ...itemPosition, delta: text },
)

const ArgumentsDone = event(
  'ResponseFunctionCallArgumentsDoneEvent',
  ['response.function_call_arguments.done'],
  { ...itemPosition, name: text, arguments: text },
)

const InputDone = event('ResponseCustomToolCallInputDoneEvent', ['response.custom_tool_call_input.done'], {
  ...itemPosition,
  input: text,
})

const failure = { code: textOrNull, message: text, param: textOrNull }

export type ErrorEvent = Static<typeof ErrorEvent>
const ErrorEvent = event('ResponseErrorEvent', ['error'], {
  ...failure,
  error: Type.Object({ type: text, ...failure }),
})

export type ResponseStreamEvent = Static<typeof ResponseStreamEvent>
/** The data of a server-sent event of a response. */
export const ResponseStreamEvent = Type.Union(
  [
    SnapshotEvent,
    ItemEvent,
    ContentPartEvent,
    TextDelta,
    TextDone,
    SummaryPartEvent,
    SummaryDelta,
    SummaryDone,
    CallDelta,
    ArgumentsDone,
    InputDone,
    ErrorEvent,
  ],
  { title: 'ResponseStreamEvent' },
)

/** The server-sent events of a response, for the OpenAPI document. */
export const responseFrames = {
  schema: ResponseStreamEvent,
  end: '`response.completed`, `response.incomplete` or `response.failed`',
}

function event<const Name extends string, Fields extends TProperties>(
  title: string,
  names: readonly Name[],
  fields: Fields,
) {
  const type = Type.Unsafe<Name>({ type: 'string', enum: [...names] })
  return Type.Object({ type, sequence_number: count, ...fields }, { title })
}
