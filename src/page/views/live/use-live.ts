import { useEffect, useRef, useState } from 'preact/hooks'
import type { SseEvent } from '../../../lib/sse.ts'
import { type ApiClient, readEvents } from '../../api/client.ts'
import { ApiFailure, toFailure } from '../../api/failure.ts'
import { LiveFeed, type LiveRequest } from './live-feed.ts'

/** The connection to the stream. */
export type LiveConnection =
  | { readonly type: 'connecting' | 'connected' }
  | { readonly type: 'waiting'; readonly seconds: number; readonly failure: ApiFailure }
  | { readonly type: 'failed'; readonly failure: ApiFailure }

/** The live requests that are shown. */
export type LiveView = {
  readonly connection: LiveConnection
  readonly rows: readonly LiveRequest[]
  readonly open: number
  readonly dropped: number
  /** Connects again after a failure. */
  retry(): void
}

type Shown = Pick<LiveView, 'rows' | 'open' | 'dropped'>

/** Milliseconds between two drawings: a person reads no faster, and the page stays free for input. */
const drawIntervalMs = 100

/** Follows the live requests. However many events arrive, they are drawn together, and not while it is paused. */
export function useLive(client: ApiClient, paused: boolean): LiveView {
  const [connection, setConnection] = useState<LiveConnection>({ type: 'connecting' })
  const [shown, setShown] = useState<Shown>({ rows: [], open: 0, dropped: 0 })
  const [attempt, setAttempt] = useState(0)
  const feed = useRef(new LiveFeed())
  const isPaused = useRef(paused)
  isPaused.current = paused

  useEffect(() => {
    const controller = new AbortController()
    const drawing = createDrawing(() => !isPaused.current && setShown(shownOf(feed.current)))
    // The elapsed times of requests in progress change without an event.
    const ticking = setInterval(() => feed.current.open > 0 && drawing.request(), 2 * drawIntervalMs)
    const follower = {
      onOpen: () => feed.current.restart(),
      onEvents(events: readonly SseEvent[]) {
        for (const event of events) feed.current.apply(event)
        if (events.length > 0) drawing.request()
      },
      onConnection: setConnection,
    }
    void followLive(client, follower, controller.signal)
    return () => {
      controller.abort()
      clearInterval(ticking)
      drawing.cancel()
    }
  }, [client, attempt])
  // What has happened during a pause is shown at once.
  useEffect(() => {
    if (!paused) setShown(shownOf(feed.current))
  }, [paused])
  return { connection, ...shown, retry: () => setAttempt((count) => count + 1) }
}

function shownOf(feed: LiveFeed): Shown {
  return { rows: feed.rows(), open: feed.open, dropped: feed.dropped }
}

/** Draws in a frame of the browser, at most once an interval. A tab that is not in sight has no frames. */
function createDrawing(draw: () => void) {
  let frame = 0
  let drawnAt = Number.NEGATIVE_INFINITY
  const step = (now: number) => {
    if (now - drawnAt < drawIntervalMs) {
      frame = requestAnimationFrame(step)
      return
    }
    frame = 0
    drawnAt = now
    draw()
  }
  return {
    request() {
      if (frame === 0) frame = requestAnimationFrame(step)
    },
    cancel: () => cancelAnimationFrame(frame),
  }
}

type LiveFollower = {
  /** Called when a connection is open, before its events. */
  onOpen(): void
  onEvents(events: readonly SseEvent[]): void
  onConnection(connection: LiveConnection): void
}

/** Milliseconds. The gateway sends a comment every 15 seconds. */
const silenceMs = 45_000
const maxDelaySeconds = 30

/** Reads the live requests until the signal aborts. After a broken connection it waits, longer each time, and connects again. */
async function followLive(client: ApiClient, follower: LiveFollower, signal: AbortSignal): Promise<void> {
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
      headers: { accept: 'text/event-stream' },
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
