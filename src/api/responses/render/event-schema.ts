import { type Static, type TProperties, Type } from 'typebox'
import { FreeObject } from '../../../http/schema.ts'
import { OutputItem, OutputText, ResponseObject, SummaryText } from './reply-schema.ts'

const text = Type.String()
const count = Type.Integer()
const textOrNull = Type.Union([Type.String(), Type.Null()])

/** Always empty: no model is asked for them. */
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

export type ItemEvent = Static<typeof ItemEvent>
const ItemEvent = event(
  'ResponseOutputItemEvent',
  ['response.output_item.added', 'response.output_item.done'],
  { output_index: count, item: OutputItem },
)

/** Where in the output the text of a message stands. */
const inContent = { item_id: text, output_index: count, content_index: count }

export type ContentPartEvent = Static<typeof ContentPartEvent>
const ContentPartEvent = event(
  'ResponseContentPartEvent',
  ['response.content_part.added', 'response.content_part.done'],
  { ...inContent, part: OutputText },
)

export type TextDelta = Static<typeof TextDelta>
const TextDelta = event('ResponseTextDeltaEvent', ['response.output_text.delta'], {
  ...inContent,
  delta: text,
  logprobs,
})

export type TextDone = Static<typeof TextDone>
const TextDone = event('ResponseTextDoneEvent', ['response.output_text.done'], {
  ...inContent,
  text,
  logprobs,
})

/** Where in the output a stretch of reasoning stands. */
const inSummary = { item_id: text, output_index: count, summary_index: count }

export type SummaryPartEvent = Static<typeof SummaryPartEvent>
const SummaryPartEvent = event(
  'ResponseSummaryPartEvent',
  ['response.reasoning_summary_part.added', 'response.reasoning_summary_part.done'],
  { ...inSummary, part: SummaryText, status: Type.Optional(Type.Literal('incomplete')) },
)

export type SummaryDelta = Static<typeof SummaryDelta>
const SummaryDelta = event('ResponseSummaryTextDeltaEvent', ['response.reasoning_summary_text.delta'], {
  ...inSummary,
  delta: text,
})

export type SummaryDone = Static<typeof SummaryDone>
const SummaryDone = event('ResponseSummaryTextDoneEvent', ['response.reasoning_summary_text.done'], {
  ...inSummary,
  text,
})

const failure = { code: textOrNull, message: text, param: textOrNull }

export type ErrorEvent = Static<typeof ErrorEvent>
const ErrorEvent = event('ResponseErrorEvent', ['error'], {
  ...failure,
  error: Type.Object({ type: text, ...failure }),
})

export type ResponseStreamEvent = Static<typeof ResponseStreamEvent>
/** What a frame of a streamed response holds. */
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
    ErrorEvent,
  ],
  { title: 'ResponseStreamEvent' },
)

/** The frames of a streamed response, for the document of the interface. */
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
