import { outputItemId } from '../request/item-id.ts'
import { renderItem, renderOutputText, renderSummaryText } from '../render/render-items.ts'
import type { OpenItem, ResponseState } from './state.ts'
import { type Step, type Unnumbered, follow, emit } from './step-tell.ts'
import type { StreamEvent } from './stream-event.ts'

/** A piece more of an item of this type: of the open one, else of a new one that takes its place. */
export function grown(state: ResponseState, type: OpenItem['type'], piece: string): Step {
  if (piece === '') return [state, []]
  if (state.open?.type === type) return added(state, state.open, piece)
  const whole = closed(state, 'completed')
  return follow(
    follow(whole, (next) => opened(next, type)),
    (next) => grown(next, type, piece),
  )
}

/** No item is open any more; the one that was ends with this status. */
export function closed(state: ResponseState, status: 'completed' | 'incomplete'): Step {
  const { open, output } = state
  if (open === null) return [state, []]
  const item = renderItem(open, status)
  const events = open.type === 'message' ? messageDone(open) : reasoningDone(open, status)
  const itemDone = { type: 'response.output_item.done', output_index: open.index, item } as const
  return emit({ ...state, open: null, output: [...output, item] }, [...events, itemDone])
}

/** This runs for every piece of every answer. */
function added(state: ResponseState, open: OpenItem, piece: string): Step {
  const event = deltaOf(open, piece, state.sequence)
  return [{ ...state, sequence: state.sequence + 1, open: { ...open, text: open.text + piece } }, [event]]
}

function deltaOf({ type, id, index }: OpenItem, delta: string, sequence_number: number): StreamEvent {
  const place = { sequence_number, item_id: id, output_index: index }
  return type === 'message'
    ? { type: 'response.output_text.delta', ...place, content_index: 0, delta, logprobs: [] }
    : { type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta }
}

function opened(state: ResponseState, type: OpenItem['type']): Step {
  const index = state.output.length
  const open = { type, id: outputItemId(state.head.id, index, type), index, text: '' }
  const item = renderItem(open, 'in_progress')
  const itemAdded = { type: 'response.output_item.added', output_index: index, item } as const
  return emit({ ...state, open }, [itemAdded, partAdded(open)])
}

function partAdded(open: OpenItem): Unnumbered {
  return open.type === 'message'
    ? { type: 'response.content_part.added', ...inContent(open), part: renderOutputText('') }
    : { type: 'response.reasoning_summary_part.added', ...inSummary(open), part: renderSummaryText('') }
}

function messageDone(open: OpenItem): readonly Unnumbered[] {
  const { text } = open
  return [
    { type: 'response.output_text.done', ...inContent(open), text, logprobs: [] },
    { type: 'response.content_part.done', ...inContent(open), part: renderOutputText(text) },
  ]
}

function reasoningDone(open: OpenItem, status: 'completed' | 'incomplete'): readonly Unnumbered[] {
  const { text } = open
  const part = renderSummaryText(text)
  const cut = status === 'incomplete' ? { status } : {}
  return [
    { type: 'response.reasoning_summary_text.done', ...inSummary(open), text },
    { type: 'response.reasoning_summary_part.done', ...inSummary(open), part, ...cut },
  ]
}

/** Each item has a single part: whatever comes between two stretches closes the item. */
function inContent({ id, index }: OpenItem) {
  return { item_id: id, output_index: index, content_index: 0 }
}

function inSummary({ id, index }: OpenItem) {
  return { item_id: id, output_index: index, summary_index: 0 }
}
