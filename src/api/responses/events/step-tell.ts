import type { ResponseState } from './state.ts'
import type { Snapshot, StreamEvent } from './stream-event.ts'

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
