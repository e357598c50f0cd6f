import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { eventStream } from '../../http/event-stream.ts'
import { describe } from '../../http/describe.ts'
import type { LiveEvent } from '../../observability/live-event.ts'
import type { LiveRequests } from '../../observability/live-requests.ts'
import type { RequestTracker } from '../../observability/request-tracker.ts'
import type { AdminGuard } from './admin-guard.ts'
import { adminErrors } from './errors.ts'

const detail = describe({
  tag: 'Admin',
  id: 'streamRequests',
  summary: 'Stream the live requests',
  description:
    'Streams an event when a request to a model starts, has its first token, and ends; first those in progress. The data ' +
    'of an event is JSON without prompts and responses. A client that reads too slowly misses events, and receives a ' +
    '`dropped` event with their number.',
  reply: Type.String(),
  mediaType: 'text/event-stream',
  errors: adminErrors,
})

export type LiveRequestDependencies = {
  readonly liveRequests: Pick<LiveRequests, 'subscribe'>
  readonly requests: Pick<RequestTracker, 'calling'>
}

/** The stream of live requests. */
export function liveRequestRoutes(guard: AdminGuard, { liveRequests, requests }: LiveRequestDependencies) {
  return new Elysia({ name: 'admin-requests' }).use(guard).get(
    '/admin/requests',
    ({ request }) =>
      eventStream(
        {
          items: liveRequests.subscribe(requests.calling()),
          frames: ({ type, ...data }: LiveEvent) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`,
          end: () => '',
          failed: () => '',
        },
        request,
      ),
    { detail },
  )
}
