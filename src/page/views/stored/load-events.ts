import type { ApiClient } from '../../api/client.ts'
import { readEvents } from '../../api/event-stream.ts'
import type { ReplayEvent } from './replay-player.ts'

/** The events of a response; `complete` is false where there are more than are kept. */
export type LoadedEvents = { readonly events: readonly ReplayEvent[]; readonly complete: boolean }

const maxEvents = 200_000
/** Characters. */
const maxLength = 64 * 1024 * 1024

/** Loads the events of a stored response. */
export async function loadEvents(
  client: ApiClient,
  path: string,
  signal: AbortSignal,
): Promise<LoadedEvents> {
  const controller = new AbortController()
  const stop = AbortSignal.any([signal, controller.signal])
  const response = await client.open(`${path}?stream=true`, { signal: stop })
  const events: ReplayEvent[] = []
  let length = 0
  let complete = true
  const receive = readEvents(response, (received) => {
    for (const { event, data } of received) {
      length += data.length
      complete &&= events.length < maxEvents && length < maxLength
      if (complete && data !== '') events.push({ name: event, data, length: lengthOf(event, data) })
    }
    if (!complete) controller.abort()
  })
  await receive.catch((error: unknown) => {
    if (complete || signal.aborted) throw error
  })
  return { events, complete }
}

/** What an event adds; the others take as long as one character. */
function lengthOf(name: string, data: string): number {
  if (!name.endsWith('.delta')) return 1
  const { delta } = JSON.parse(data) as { readonly delta?: unknown }
  return typeof delta === 'string' ? delta.length : 1
}
