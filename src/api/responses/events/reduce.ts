import type { Citation, FinishReason } from '../../../domain/generation/events.ts'
import { outputItemId } from '../request/items.ts'
import type { CallBegin, RunEnd, RunEvent } from './run-event.ts'
import {
  type CallItem,
  type ClosedStatus,
  isCallItem,
  isFinished,
  type OutputItem,
  type ResponseState,
  type Snapshot,
  type StreamEvent,
  type TextItem,
  type UnnumberedEvent,
  withItem,
} from './state.ts'

/** The state after an event, and the stream events that describe the change. */
export type Step = readonly [state: ResponseState, events: readonly StreamEvent[]]

/**
 * Applies an event to the state of a response. Pure: the same events always make the same state and the same stream
 * events. Events after the end change nothing.
 */
export function step(state: ResponseState, event: RunEvent): Step {
  if (isFinished(state)) return unchanged(state)
  switch (event.type) {
    case 'created':
      return create(state)
    case 'started':
      return snapshot({ ...state, status: 'in_progress' }, 'in_progress')
    case 'answering':
      return beginAnswer(state, event.provider, event.warnings)
    case 'restarted':
      return unchanged({ ...state, provider: event.provider, warnings: event.warnings })
    case 'reasoning':
      return addDelta(state, 'reasoning', event.text)
    case 'text':
      return addDelta(state, 'message', event.text)
    case 'reasoning-end':
      return endReasoning(state, event.encrypted)
    case 'citations':
      return unchanged(addCitations(state, event.citations))
    case 'call':
      return andThen(closeItem(state), (next) => openCall(next, event))
    case 'call-delta':
      return addArguments(state, event.text)
    case 'call-end':
      return state.open !== null && isCallItem(state.open) ? closeItem(state, 'completed') : unchanged(state)
    case 'finish':
      return unchanged({ ...state, finish: event.reason })
    case 'tier':
      return unchanged({ ...state, tier: event.tier })
    case 'ended':
      return complete(state, event)
    case 'failed':
      return fail(state, event)
    case 'cancelled':
      return endIncomplete(state, 'cancelled', event.usage)
  }
}

/** A step without stream events. */
function unchanged(state: ResponseState): Step {
  return [state, []]
}

function create(state: ResponseState): Step {
  const created = snapshot(state, 'created')
  return state.status === 'queued' ? andThen(created, (next) => snapshot(next, 'queued')) : created
}

function beginAnswer(state: ResponseState, provider: string, warnings: readonly string[]): Step {
  return unchanged({ ...state, provider, warnings: [...state.warnings, ...warnings] })
}

/** Adds a delta to the open item if it has this type; otherwise closes that and opens a new item. */
function addDelta(state: ResponseState, type: TextItem['type'], delta: string): Step {
  if (delta === '') return unchanged(state)
  if (state.open?.type === type) return append(state, state.open, delta)
  return andThen(
    andThen(closeItem(state), (next) => openText(next, type)),
    (next) => addDelta(next, type, delta),
  )
}

function addArguments(state: ResponseState, delta: string): Step {
  const { open } = state
  return delta === '' || open === null || !isCallItem(open) ? unchanged(state) : append(state, open, delta)
}

/** The hot path: it runs for every delta of every response. */
function append(state: ResponseState, item: OutputItem, delta: string): Step {
  const { sequence } = state
  const open = { ...item, text: item.text + delta }
  return [{ ...state, sequence: sequence + 1, open }, [{ type: 'text_delta', sequence, item, delta }]]
}

function openText(state: ResponseState, type: TextItem['type']): Step {
  const item: TextItem = { type, ...newItem(state, type) }
  const opened = emit({ ...state, open: item }, [
    { type: 'item_added', item },
    { type: 'part_added', item },
  ])
  return type === 'reasoning' || state.citations.length === 0 ? opened : andThen(opened, takeCitations)
}

/** Adds the citations that came before the open message. */
function takeCitations(state: ResponseState): Step {
  return unchanged(addCitations({ ...state, citations: [] }, state.citations))
}

function addCitations(state: ResponseState, more: readonly Citation[]): ResponseState {
  const { open, citations } = state
  if (open?.type !== 'message') return { ...state, citations: [...citations, ...more] }
  return { ...state, open: { ...open, citations: [...(open.citations ?? []), ...more] } }
}

function openCall(state: ResponseState, { kind, callId, name, namespace }: CallBegin): Step {
  const item: CallItem = { type: kind, callId, name, namespace, ...newItem(state, kind) }
  return emit({ ...state, open: item }, [{ type: 'item_added', item }])
}

function newItem({ head, output }: ResponseState, type: OutputItem['type']) {
  const index = output?.length ?? 0
  return { id: outputItemId(head.id, index, type), index, text: '', status: 'in_progress' } as const
}

/** Closes the open reasoning with its state; reasoning without any text becomes an item of its own. */
function endReasoning(state: ResponseState, encrypted: string): Step {
  const { open } = state
  if (open?.type === 'reasoning') return closeItem({ ...state, open: { ...open, encrypted } })
  return andThen(closeItem(state), (next) => {
    const item: TextItem = { type: 'reasoning', ...newItem(next, 'reasoning'), encrypted }
    return andThen(emit({ ...next, open: item }, [{ type: 'item_added', item }]), closeItem)
  })
}

/**
 * Moves the open item, if there is one, to the output. Where the status is not given, the model has gone on to something
 * else: that completes a text, but not a call, whose end is an event of its own.
 */
function closeItem(state: ResponseState, givenStatus?: ClosedStatus): Step {
  const { open, output } = state
  if (open === null) return unchanged(state)
  const status = givenStatus ?? (isCallItem(open) ? 'incomplete' : 'completed')
  const item = { ...open, status }
  return emit({ ...state, open: null, output: withItem(output, item) }, endOf(item))
}

/** Closes the open item of a failed response. A call is not reported as done: agents would execute it. */
function abandonItem(state: ResponseState): Step {
  const { open, output } = state
  if (open === null || !isCallItem(open)) return closeItem(state, 'incomplete')
  return unchanged({ ...state, open: null, output: withItem(output, { ...open, status: 'incomplete' }) })
}

/** Reasoning without text has no part, and the arguments of an incomplete call are not done. */
function endOf(item: OutputItem): UnnumberedEvent[] {
  const done: UnnumberedEvent = { type: 'item_done', item }
  if (isCallItem(item)) return item.status === 'completed' ? [{ type: 'text_done', item }, done] : [done]
  if (item.text === '') return [done]
  return [{ type: 'text_done', item }, { type: 'part_done', item }, done]
}

type End<Type extends RunEnd['type']> = Extract<RunEnd, { readonly type: Type }>

/** The model has finished; a response that it cut short is incomplete. */
function complete(state: ResponseState, { at, usage }: End<'ended'>): Step {
  const reason = incompleteReasonOf(state.finish)
  if (reason !== null) return endIncomplete(state, reason, usage)
  return andThen(closeItem(state), (next) =>
    snapshot({ ...next, status: 'completed', completedAt: at, usage }, 'completed'),
  )
}

/** Keeps the output. Emits the error as an event and in the last snapshot, because clients listen for either. */
function fail(state: ResponseState, { code, message, param, usage }: End<'failed'>): Step {
  const failure = { code, message, param }
  const withError = andThen(abandonItem(state), (next) => emit(next, [{ type: 'error', failure }]))
  return andThen(withError, (next) => snapshot({ ...next, status: 'failed', failure, usage }, 'failed'))
}

/** Ends the response before the model has finished; keeps the output. */
function endIncomplete(
  state: ResponseState,
  incompleteReason: ResponseState['incompleteReason'],
  usage: ResponseState['usage'],
): Step {
  return andThen(closeItem(state, 'incomplete'), (next) =>
    snapshot({ ...next, status: 'incomplete', incompleteReason, usage }, 'incomplete'),
  )
}

function incompleteReasonOf(finish: FinishReason | null): 'max_output_tokens' | 'content_filter' | null {
  if (finish === 'length') return 'max_output_tokens'
  return finish === 'content_filter' ? finish : null
}

/** Emits the complete response as it is now. */
function snapshot(state: ResponseState, stage: Snapshot['stage']): Step {
  return emit(state, [{ type: 'snapshot', stage, state }])
}

/** Emits these events in this order with the next sequence numbers. */
function emit(state: ResponseState, unnumbered: readonly UnnumberedEvent[]): Step {
  const events = unnumbered.map((event, index) => ({ ...event, sequence: state.sequence + index }))
  return [{ ...state, sequence: state.sequence + unnumbered.length }, events]
}

/** Joins two steps to one. */
function andThen([state, events]: Step, next: (state: ResponseState) => Step): Step {
  const [after, more] = next(state)
  return [after, [...events, ...more]]
}
