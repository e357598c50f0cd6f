import type { FinishReason } from '../../../domain/generation/events.ts'
import { renderErrorEvent } from '../render/render-failure.ts'
import { renderItem, renderOutputText, renderSummaryText } from '../render/render-items.ts'
import { outputItemId } from '../request/item-id.ts'
import type { RunEnd, RunEvent } from './run-event.ts'
import { finished, type OpenItem, type ResponseState } from './state.ts'
import type { Snapshot, StreamEvent } from './stream-event.ts'

/**
 * What becomes of a response when this happens to it, and what readers of its stream are told. The same events
 * always give the same; whatever comes after the end changes nothing.
 */
export function step(state: ResponseState, event: RunEvent): Step {
  if (finished(state)) return [state, []]
  switch (event.type) {
    case 'created':
      return created(state)
    case 'started':
      return snapshot({ ...state, status: 'in_progress' }, 'response.in_progress')
    case 'answering':
      return silently({
        ...state,
        provider: event.provider,
        warnings: [...state.warnings, ...event.warnings],
      })
    case 'reasoning':
      return grown(state, 'reasoning', event.text)
    case 'text':
      return grown(state, 'message', event.text)
    case 'finish':
      return silently({ ...state, finish: event.reason })
    case 'tier':
      return silently({ ...state, tier: event.tier })
    case 'ended':
      return ended(state, event)
    case 'failed':
      return failed(state, event)
    case 'cancelled':
      return cancelled(state, event)
  }
}

function created(state: ResponseState): Step {
  const told = snapshot(state, 'response.created')
  return state.status === 'queued' ? follow(told, (next) => snapshot(next, 'response.queued')) : told
}

function silently(state: ResponseState): Step {
  return [state, []]
}

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

type End<Type extends RunEnd['type']> = Extract<RunEnd, { readonly type: Type }>

/** The model has said all that it will say. */
export function ended(state: ResponseState, { at, usage }: End<'ended'>): Step {
  const reason = cutShortBy(state.finish)
  if (reason !== null) return incomplete(state, reason, usage)
  return follow(closed(state, 'completed'), (next) =>
    snapshot({ ...next, status: 'completed', completedAt: at, usage }, 'response.completed'),
  )
}

/** Whatever was said stays; the error is told twice, because clients listen for either. */
export function failed(state: ResponseState, { code, message, param, usage }: End<'failed'>): Step {
  const failure = { code, message, param }
  const told = follow(closed(state, 'incomplete'), (next) => emit(next, [renderErrorEvent(failure)]))
  return follow(told, (next) => snapshot({ ...next, status: 'failed', failure, usage }, 'response.failed'))
}

/** Whatever was said stays. */
export function cancelled(state: ResponseState, { usage }: End<'cancelled'>): Step {
  return incomplete(state, 'cancelled', usage)
}

function incomplete(
  state: ResponseState,
  incompleteReason: ResponseState['incompleteReason'],
  usage: ResponseState['usage'],
): Step {
  return follow(closed(state, 'incomplete'), (next) =>
    snapshot({ ...next, status: 'incomplete', incompleteReason, usage }, 'response.incomplete'),
  )
}

function cutShortBy(finish: FinishReason | null): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length') return 'max_output_tokens'
  return finish === 'content_filter' ? finish : null
}

/** The response after something has happened, and what its readers are told of it. */
export type Step = readonly [state: ResponseState, events: readonly StreamEvent[]]

/** A stream event whose number is not yet given. */
export type Unnumbered = WithoutNumber<StreamEvent>

type WithoutNumber<Event> = Event extends unknown ? Omit<Event, 'sequence_number'> : never

/** Tells these, in this order, under the next numbers. */
export function emit(state: ResponseState, untold: readonly Unnumbered[]): Step {
  const events = untold.map((event, index) => numbered(event, state.sequence + index))
  return [{ ...state, sequence: state.sequence + untold.length }, events]
}

/** Tells the whole response as it now is. */
export function snapshot(state: ResponseState, type: Snapshot['type']): Step {
  return emit(state, [{ type, state }])
}

/** One step after the other, as one. */
export function follow([state, events]: Step, next: (state: ResponseState) => Step): Step {
  const [after, more] = next(state)
  return [after, [...events, ...more]]
}

/** The type and the number come first, where a person who reads a stream looks for them. */
function numbered({ type, ...fields }: Unnumbered, sequence_number: number): StreamEvent {
  return { type, sequence_number, ...fields } as StreamEvent
}
