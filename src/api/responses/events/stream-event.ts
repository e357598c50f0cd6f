import type {
  ContentPartEvent,
  ErrorEvent,
  ItemEvent,
  SummaryDelta,
  SummaryDone,
  SummaryPartEvent,
  TextDelta,
  TextDone,
} from '../render/event-schema.ts'
import type { ResponseState } from './state.ts'

/** What a reader of the stream is told. All but the snapshots are what goes over the wire. */
export type StreamEvent =
  | Snapshot
  | ItemEvent
  | ContentPartEvent
  | TextDelta
  | TextDone
  | SummaryPartEvent
  | SummaryDelta
  | SummaryDone
  | ErrorEvent

/** The whole response as it was at this moment; how it is rendered is decided when it is sent. */
export type Snapshot = {
  readonly type:
    | 'response.created'
    | 'response.queued'
    | 'response.in_progress'
    | 'response.completed'
    | 'response.incomplete'
    | 'response.failed'
  readonly sequence_number: number
  readonly state: ResponseState
}
