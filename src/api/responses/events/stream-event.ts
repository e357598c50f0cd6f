import type { Failure, OutputItem, ResponseState, TextItem } from './state.ts'

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
