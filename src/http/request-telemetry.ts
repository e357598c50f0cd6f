import { Elysia } from 'elysia'
import {
  type Attempt,
  circuitOpen,
  type RequestRecord,
  unheardRecord,
} from '../observability/request-record.ts'
import type { Requests } from '../observability/requests.ts'
import type { Caller } from './authentication.ts'

/** Where the time of a request goes, and what else is known of it. */
export type Timing = RequestRecord

/**
 * Gives every request a `timing`, and every whole reply, errors too, a `server-timing` header: what the gateway took
 * itself, how long it waited for providers, and what was tried in vain. A stream has no such header: its time is yet to
 * come. The application adds it with `requests`, which then hear of every request; features have it for its types.
 */
export function requestTelemetry(requests?: Requests) {
  return new Elysia({ name: 'timing' })
    .decorate('timing', unheardRecord())
    .onRequest(function start(context) {
      const { set, request } = context
      const id = String(set.headers['x-request-id'] ?? '')
      const record = requests?.begin(id, request.method) ?? unheardRecord()
      if (requests?.traced) record.traceparent = request.headers.get('traceparent') ?? undefined
      context.timing = record
    })
    .mapResponse({ as: 'global' }, function tell(context) {
      const { responseValue, set, timing, route } = context
      // Where the guard has put it, which the types of a global hook cannot know.
      const { caller } = context as { readonly caller?: Caller }
      timing.replied({
        status: statusOf(responseValue, set.status),
        path: route || undefined,
        organization: caller?.organization.id,
        key: caller?.keyId,
      })
      if (!isEventStream(responseValue)) set.headers['server-timing'] = headerOf(timing)
      // On a path that no route has, Elysia sends what this returns; on others it would keep the next step from running.
      return route ? undefined : (responseValue as Response)
    })
}

function statusOf(reply: unknown, status: unknown): number {
  if (typeof status === 'number' && status !== 200) return status
  return reply instanceof Response ? reply.status : 200
}

function headerOf({ own, upstream, attempts }: Timing): string {
  const waited = upstream.milliseconds()
  const times = `gateway;dur=${own.toFixed(3)}, upstream;dur=${waited.toFixed(3)}`
  return attempts.length < 2 && attempts[0]?.outcome === 'ok' ? times : times + vainAttempts(attempts)
}

/** More are in the log. */
const mostTold = 8

function vainAttempts(attempts: readonly Attempt[]): string {
  const vain = attempts.filter(({ outcome }) => outcome !== 'ok')
  return vain.slice(0, mostTold).map(entryOf).join('')
}

function entryOf({ route, outcome, status, milliseconds }: Attempt): string {
  const told = outcome === circuitOpen ? 'left alone' : `${status} ${outcome}`
  return `, attempt;desc="${plain(route.provider.name)} ${told}";dur=${milliseconds.toFixed(3)}`
}

/** A name of a provider may hold any character, a header may not. */
function plain(name: string): string {
  return name.replace(/[^\w.:-]/g, '_')
}

function isEventStream(reply: unknown): boolean {
  return (
    reply instanceof Response && reply.headers.get('content-type')?.startsWith('text/event-stream') === true
  )
}
