import type { Citation, FinishReason } from '../../../domain/generation/events.ts'
import type { ResponseHead } from '../request/head.ts'
import type { RunUsage } from './run-event.ts'

/** A response at one moment, independent of its wire format. It is immutable: each step makes a new state. */
export type ResponseState = {
  readonly head: ResponseHead
  readonly status: 'queued' | 'in_progress' | 'completed' | 'failed' | 'incomplete'
  /** The sequence number of the next stream event. */
  readonly sequence: number
  /** The name of the provider; null until its stream has started. */
  readonly provider: string | null
  /** Warnings that were not known yet when the head was made. */
  readonly warnings: readonly string[]
  /** The closed items: completed, or incomplete for good. */
  readonly output: Output
  /** The item to which the model adds; the text of a text item is never empty between two steps. */
  readonly open: OutputItem | null
  /** The citations of the next message: some providers send them before its text. */
  readonly citations: readonly Citation[]
  /** Why the model stopped; null until it has. */
  readonly finish: FinishReason | null
  /** The service tier that served the request; null where the provider did not report one. */
  readonly tier: 'default' | 'priority' | null
  /** In Unix seconds; null unless completed. */
  readonly completedAt: number | null
  readonly incompleteReason: 'max_output_tokens' | 'content_filter' | 'cancelled' | null
  readonly failure: Failure | null
  readonly usage: RunUsage | null
}

/**
 * The items of an output, from the last one back; null for none. A response may have thousands, and a list for each state
 * would copy those before it.
 */
export type Output = {
  readonly last: OutputItem
  readonly before: Output | null
  readonly length: number
} | null

/** The output with one more item. */
export function withItem(before: Output, last: OutputItem): Output {
  return { last, before, length: (before?.length ?? 0) + 1 }
}

/** The items of an output in their order. */
export function itemsOf(output: Output): readonly OutputItem[] {
  const items: OutputItem[] = []
  for (let rest = output; rest !== null; rest = rest.before) items.push(rest.last)
  return items.toReversed()
}

/** An item of the output. */
export type OutputItem = TextItem | CallItem

type CommonItem = {
  readonly id: string
  /** The position in the output. */
  readonly index: number
  /** The text of the only part of a text item; the arguments or the input of a call. */
  readonly text: string
  readonly status: 'in_progress' | ClosedStatus
}

/** A message or reasoning; it has a single part, which holds its text. */
export type TextItem = CommonItem & {
  readonly type: 'message' | 'reasoning'
  /** The reasoning that the provider wants back, as opaque text. */
  readonly encrypted?: string
  /** The pages that a message cites, which clients receive when it is done; absent where it cites none. */
  readonly citations?: readonly Citation[]
}

/** A call of a tool. */
export type CallItem = CommonItem & {
  readonly type: 'function_call' | 'custom_tool_call'
  readonly callId: string
  readonly name: string
  readonly namespace?: string
}

/** Whether the item is a call. */
export function isCallItem(item: OutputItem): item is CallItem {
  return item.type === 'function_call' || item.type === 'custom_tool_call'
}

/** The status of an item to which nothing is added any more. */
export type ClosedStatus = 'completed' | 'incomplete'

/** Why a response failed; `code` is one of the gateway's own. */
export type Failure = { readonly code: string; readonly message: string; readonly param: string | null }

/** The state of a response before its first event. */
export function initialState(head: ResponseHead): ResponseState {
  return {
    head,
    status: head.background ? 'queued' : 'in_progress',
    sequence: 0,
    provider: null,
    warnings: [],
    output: null,
    open: null,
    citations: [],
    finish: null,
    tier: null,
    completedAt: null,
    incompleteReason: null,
    failure: null,
    usage: null,
  }
}

/** Whether the response has ended: no event changes it any more. */
export function isFinished({ status }: ResponseState): boolean {
  return status !== 'queued' && status !== 'in_progress'
}

/** A change of a response that clients of its stream receive; `render-event.ts` gives it its wire format. */
export type StreamEvent = UnnumberedEvent & { readonly sequence: number }

/** A stream event before it has a sequence number. */
export type UnnumberedEvent =
  Snapshot | ItemChange | PartChange | TextDelta | { readonly type: 'error'; readonly failure: Failure }

/** The complete response at this moment; `stage` says why clients receive it. */
export type Snapshot = {
  readonly type: 'snapshot'
  readonly stage: 'created' | ResponseState['status']
  readonly state: ResponseState
}

/** An item was added, or it or its text is done; `item` has the state after the change. */
export type ItemChange = {
  readonly type: 'item_added' | 'text_done' | 'item_done'
  readonly item: OutputItem
}

/** The only part of an item was added or is done. */
export type PartChange = { readonly type: 'part_added' | 'part_done'; readonly item: TextItem }

/** Text that was added to an item; `item` has the state before. */
export type TextDelta = { readonly type: 'text_delta'; readonly item: OutputItem; readonly delta: string }
