import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiClient } from '../../api/client.ts'
import { followLive, type LiveConnection } from './follow.ts'
import { LiveFeed } from './live-feed.ts'
import type { LiveRequest } from './live-request.ts'

/** What is shown of the live requests. */
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
      onEvents(events: Parameters<typeof applyAll>[1]) {
        applyAll(feed.current, events)
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

function applyAll(feed: LiveFeed, events: readonly Parameters<LiveFeed['apply']>[0][]): void {
  for (const event of events) feed.apply(event)
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
