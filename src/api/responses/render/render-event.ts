import type { ResponseStreamEvent } from './event-schema.ts'
import { type RenderOptions, renderResponse } from './render.ts'
import type { StreamEvent } from '../events/stream-event.ts'

/** The event as its readers see it. */
export function renderEvent(event: StreamEvent, options: RenderOptions): ResponseStreamEvent {
  if (!('state' in event)) return event
  const { type, sequence_number, state } = event
  return { type, sequence_number, response: renderResponse(state, options) }
}
