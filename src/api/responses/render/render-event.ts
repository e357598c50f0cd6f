import {
  type CallItem,
  isCallItem,
  type ItemChange,
  type PartChange,
  type StreamEvent,
  type TextDelta,
  type TextItem,
} from '../events/state.ts'
import type { ResponseStreamEvent } from './event-schema.ts'
import {
  renderErrorEvent,
  renderItem,
  type RenderOptions,
  renderOutputText,
  renderResponse,
  renderSummaryText,
} from './render-response.ts'

/** Renders stream events as server-sent events, one after the other. */
export function renderFrames(events: readonly StreamEvent[], options: RenderOptions): string {
  let text = ''
  for (const event of events) text += renderFrame(event, options)
  return text
}

/** Renders one stream event as a server-sent event. */
export function renderFrame(event: StreamEvent, options: RenderOptions): string {
  const rendered = renderEvent(event, options)
  // Building the frames of deltas from strings, as chat does, gains nothing: these objects are small and flat.
  return `event: ${rendered.type}\ndata: ${JSON.stringify(rendered)}\n\n`
}

/**
 * Renders a stream event as its wire object. The type and the sequence number come first, where a person who reads the
 * stream looks for them.
 */
export function renderEvent(event: StreamEvent, options: RenderOptions): ResponseStreamEvent {
  const { type, sequence: sequence_number } = event
  switch (type) {
    case 'text_delta':
      return renderDelta(event, sequence_number)
    case 'snapshot':
      return {
        type: `response.${event.stage}`,
        sequence_number,
        response: renderResponse(event.state, options),
      }
    case 'error':
      return renderErrorEvent(event.failure, sequence_number)
    default:
      return renderItemChange(event, sequence_number)
  }
}

function renderDelta({ item, delta }: TextDelta, sequence_number: number): ResponseStreamEvent {
  const { id: item_id, index: output_index } = item
  switch (item.type) {
    case 'message':
      return {
        type: 'response.output_text.delta',
        sequence_number,
        item_id,
        output_index,
        content_index: 0,
        delta,
        logprobs: [],
      }
    case 'reasoning':
      return {
        type: 'response.reasoning_summary_text.delta',
        sequence_number,
        item_id,
        output_index,
        summary_index: 0,
        delta,
      }
    case 'function_call':
      return { type: 'response.function_call_arguments.delta', sequence_number, item_id, output_index, delta }
    case 'custom_tool_call':
      return { type: 'response.custom_tool_call_input.delta', sequence_number, item_id, output_index, delta }
  }
}

function renderItemChange(event: ItemChange | PartChange, sequence_number: number): ResponseStreamEvent {
  const { type, item } = event
  const output_index = item.index
  switch (type) {
    case 'item_added':
      return { type: 'response.output_item.added', sequence_number, output_index, item: renderItem(item) }
    case 'item_done':
      return { type: 'response.output_item.done', sequence_number, output_index, item: renderItem(item) }
    case 'text_done':
      return isCallItem(item)
        ? renderCallDone(item, sequence_number)
        : renderPartChange(type, item, sequence_number)
    default:
      return renderPartChange(type, item, sequence_number)
  }
}

function renderCallDone(
  { type, id, index, text, name }: CallItem,
  sequence_number: number,
): ResponseStreamEvent {
  const position = { sequence_number, item_id: id, output_index: index }
  return type === 'function_call'
    ? { type: 'response.function_call_arguments.done', ...position, name, arguments: text }
    : { type: 'response.custom_tool_call_input.done', ...position, input: text }
}

type TextChange = PartChange['type'] | 'text_done'

function renderPartChange(type: TextChange, item: TextItem, sequence_number: number): ResponseStreamEvent {
  return item.type === 'message'
    ? renderContentChange(type, item, sequence_number)
    : renderSummaryChange(type, item, sequence_number)
}

function renderContentChange(type: TextChange, item: TextItem, sequence_number: number): ResponseStreamEvent {
  const { text, citations } = item
  const position = { item_id: item.id, output_index: item.index, content_index: 0 }
  switch (type) {
    case 'part_added':
      return {
        type: 'response.content_part.added',
        sequence_number,
        ...position,
        part: renderOutputText(text),
      }
    case 'text_done':
      return { type: 'response.output_text.done', sequence_number, ...position, text, logprobs: [] }
    case 'part_done':
      return {
        type: 'response.content_part.done',
        sequence_number,
        ...position,
        part: renderOutputText(text, citations),
      }
  }
}

function renderSummaryChange(type: TextChange, item: TextItem, sequence_number: number): ResponseStreamEvent {
  const { text, status } = item
  const position = { item_id: item.id, output_index: item.index, summary_index: 0 }
  const part = renderSummaryText(text)
  switch (type) {
    case 'part_added':
      return { type: 'response.reasoning_summary_part.added', sequence_number, ...position, part }
    case 'text_done':
      return { type: 'response.reasoning_summary_text.done', sequence_number, ...position, text }
    case 'part_done': {
      const incomplete = status === 'incomplete' ? { status } : {}
      return {
        type: 'response.reasoning_summary_part.done',
        sequence_number,
        ...position,
        part,
        ...incomplete,
      }
    }
  }
}
