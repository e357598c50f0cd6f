import { type SseEvent, SseParser } from '../../lib/sse.ts'
import { isAbort, toFailure } from './failure.ts'

/** Calls `onEvents` with the events of each piece of a stream, until it ends. The parser bounds an event. */
export async function readEvents(
  response: Response,
  onEvents: (events: readonly SseEvent[]) => void,
): Promise<void> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const parser = new SseParser()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read())
      onEvents(parser.push(part.value))
    onEvents(parser.end())
  } catch (error) {
    throw isAbort(error) ? error : toFailure(error)
  } finally {
    // A stream that is not read to its end must not keep the provider busy.
    await reader.cancel().catch(() => {})
  }
}
