import type { Failure, OutputItem, ResponseState } from './state.ts'

/** A change of a response that clients of its stream receive; `render-event.ts` gives it its wire format. */
export type StreamEvent = UnnumberedEvent & { readonly sequence: number }

/** A stream event before it has a sequence number. */
export type UnnumberedEvent =
  Snapshot | ItemChange | TextDelta | { readonly type: 'error'; readonly failure: Failure }

/** The complete response at this moment; `stage` says why clients receive it. */
export type Snapshot = {
  readonly type: 'snapshot'
  readonly stage: 'created' | ResponseState['status']
  readonly state: ResponseState
}

/** An item, its only part, or the text of that part was added or is done; `item` has the state after the change. */
export type ItemChange = {
  readonly type: 'item_added' | 'part_added' | 'text_done' | 'part_done' | 'item_done'
  readonly item: OutputItem
}

/** Text that was added to an item; `item` has the state before. */
export type TextDelta = { readonly type: 'text_delta'; readonly item: OutputItem; readonly delta: string }
