import type { RenderOptions } from './render.ts'
import { renderEvent } from './render-event.ts'
import type { StreamEvent } from '../events/stream-event.ts'

/** The events as frames of the stream, one behind the other. */
export function framesOf(events: readonly StreamEvent[], options: RenderOptions): string {
  let text = ''
  for (const event of events) text += frameOf(event, options)
  return text
}

/** The event as a frame of the stream. */
export function frameOf(event: StreamEvent, options: RenderOptions): string {
  // To put the frames of deltas together from text, as chat does, gains nothing: these objects are small and flat.
  return `event: ${event.type}\ndata: ${JSON.stringify(renderEvent(event, options))}\n\n`
}
