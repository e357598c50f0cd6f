import { Elysia } from 'elysia'
import { createStopwatch, type Stopwatch } from '../lib/stopwatch.ts'

/** Where the time of a request goes. */
export type Timing = {
  /** Milliseconds, as `performance.now()` counts them. */
  readonly startedAt: number
  /** Runs while the gateway waits for a provider. */
  readonly upstream: Stopwatch
}

/**
 * Gives every request a `timing`, and every whole reply, errors too, a `server-timing` header: what the gateway took
 * itself, and how long it waited for providers. A stream has no such header: its time is yet to come.
 */
export function timing() {
  return new Elysia({ name: 'timing' })
    .decorate('timing', startTiming())
    .onRequest(function start(context) {
      context.timing = startTiming()
    })
    .mapResponse({ as: 'global' }, function tellTiming({ responseValue, set, timing }) {
      if (!isEventStream(responseValue)) set.headers['server-timing'] = headerOf(timing)
      // On a path that no route has, Elysia sends what this returns, and an empty body where that is nothing.
      return responseValue as Response
    })
}

function startTiming(): Timing {
  return { startedAt: performance.now(), upstream: createStopwatch() }
}

function headerOf({ startedAt, upstream }: Timing): string {
  const waited = upstream.milliseconds()
  const own = Math.max(0, performance.now() - startedAt - waited)
  return `gateway;dur=${own.toFixed(3)}, upstream;dur=${waited.toFixed(3)}`
}

function isEventStream(reply: unknown): boolean {
  return (
    reply instanceof Response && reply.headers.get('content-type')?.startsWith('text/event-stream') === true
  )
}
