import type { SseEvent } from '../../../lib/sse.ts'
import type { ApiClient } from '../../api/client.ts'
import { readEvents } from '../../api/event-stream.ts'
import { ApiFailure, toFailure } from '../../api/failure.ts'

/** The connection to the stream. */
export type LiveConnection =
  | { readonly type: 'connecting' | 'connected' }
  | { readonly type: 'waiting'; readonly seconds: number; readonly failure: ApiFailure }
  | { readonly type: 'failed'; readonly failure: ApiFailure }

export type LiveFollower = {
  /** Called when a connection is open, before its events. */
  onOpen(): void
  onEvents(events: readonly SseEvent[]): void
  onConnection(connection: LiveConnection): void
}

/** Milliseconds. The gateway sends a comment every 15 seconds. */
const silenceMs = 45_000
const maxDelaySeconds = 30

/** Reads the live requests until the signal aborts. After a broken connection it waits, longer each time, and connects again. */
export async function followLive(
  client: ApiClient,
  follower: LiveFollower,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt++) {
    const failure = await readOnce(client, follower, signal, () => (attempt = 0))
    if (signal.aborted) return
    if (failure.status >= 400 && failure.status < 500) {
      follower.onConnection({ type: 'failed', failure })
      return
    }
    const seconds = Math.min(maxDelaySeconds, 2 ** attempt)
    follower.onConnection({ type: 'waiting', seconds, failure })
    await pause(seconds * 1000, signal)
  }
}

/** Reads one connection to its end, and returns why it has ended. */
async function readOnce(
  client: ApiClient,
  { onOpen, onEvents, onConnection }: LiveFollower,
  signal: AbortSignal,
  onSuccess: () => void,
): Promise<ApiFailure> {
  const silence = new SilenceTimer()
  onConnection({ type: 'connecting' })
  try {
    const response = await client.open('/admin/requests', {
      signal: AbortSignal.any([signal, silence.signal]),
    })
    onOpen()
    onConnection({ type: 'connected' })
    await readEvents(response, (events) => {
      silence.restart()
      onSuccess()
      onEvents(events)
    })
    return new ApiFailure('The gateway has closed the stream.')
  } catch (error) {
    return toFailure(error)
  } finally {
    silence.stop()
  }
}

/** Aborts a connection on which nothing arrives. */
class SilenceTimer {
  readonly #controller = new AbortController()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor() {
    this.restart()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  restart(): void {
    clearTimeout(this.#timer)
    const failure = new ApiFailure('The gateway has sent nothing for too long.')
    this.#timer = setTimeout(() => this.#controller.abort(failure), silenceMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

/** Resolves after this time, or when the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done, { once: true })
    function done() {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
}
