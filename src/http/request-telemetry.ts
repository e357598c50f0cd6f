import { Elysia } from 'elysia'
import type { ModelRoute } from '../gateway/models/model.ts'
import { timeSortedId } from '../lib/id.ts'
import type { Attempt } from '../gateway/observer.ts'
import { circuitOpen, createDetachedRecord, type RequestRecord } from '../observability/request-record.ts'
import type { RequestTracker } from '../observability/request-tracker.ts'
import { isAnthropicRequest } from './anthropic-error.ts'
import type { Caller } from './authentication.ts'
import { EventStreamReply } from './event-stream.ts'
import { requestPath } from './routing.ts'

/**
 * Sets the headers that every reply has, errors included: `x-request-id`, and the header of the same meaning in Anthropic's
 * API. The log has the same id. A browser does not guess the content type. Replies of the API are in no cache.
 */
export function standardHeaders() {
  return new Elysia({ name: 'standard-headers' }).onRequest(({ request, set }) => {
    const id = timeSortedId('req_')
    set.headers['x-request-id'] = id
    set.headers['x-content-type-options'] = 'nosniff'
    // Replies are for the holder of one key. The page and the documentation are for everybody.
    if (privatePath.test(requestPath(request))) set.headers['cache-control'] = 'no-store'
    if (isAnthropicRequest(request)) set.headers['request-id'] = id
  })
}

const privatePath = /^\/(v1|admin)(\/|$)/

/**
 * Gives every request a `record` of its timing, and every complete reply, errors included, a `server-timing` header: the
 * time of the gateway itself, the time in queues of providers, the time it waited for providers, and the failed attempts.
 * A stream has only the time in queues, because the others are not known when it starts. A reply of a model has the route
 * that serves it in `x-weir-route`. The application adds the plugin with `requests`, which the record reports to.
 */
export function requestTelemetry(requests?: RequestTracker) {
  return new Elysia({ name: 'telemetry' })
    .decorate('record', createDetachedRecord())
    .onRequest(function beginRecord(context) {
      const { set, request } = context
      const id = String(set.headers['x-request-id'] ?? '')
      const record = requests?.begin(id, request.method) ?? createDetachedRecord()
      if (requests?.tracingEnabled) record.traceparent = request.headers.get('traceparent') ?? undefined
      context.record = record
    })
    .mapResponse({ as: 'global' }, function recordReply(context) {
      const { responseValue, set, record, route } = context
      // The guard has set it; the types of a global hook do not declare it.
      const { caller } = context as { readonly caller?: Caller }
      record.replied({
        status: statusOf(responseValue, set.status),
        path: route || undefined,
        organization: caller?.organization.id,
        key: caller?.keyId,
      })
      const servingRoute = record.servingRoute()
      if (servingRoute) set.headers['x-weir-route'] = routeName(servingRoute)
      if (!(responseValue instanceof EventStreamReply)) set.headers['server-timing'] = serverTiming(record)
      else if (record.queuedMs() > 0) set.headers['server-timing'] = queueTiming(record)
      // Elysia sends what this returns on a path without a route; on others, a value would skip the next step.
      return route ? undefined : (responseValue as Response)
    })
}

/** The provider, and the model at the provider. */
function routeName({ provider, model }: ModelRoute): string {
  return headerSafe(`${provider.name}/${model}`)
}

function statusOf(reply: unknown, status: unknown): number {
  if (typeof status === 'number' && status !== 200) return status
  return reply instanceof Response ? reply.status : 200
}

function queueTiming(record: RequestRecord): string {
  return `queue;dur=${record.queuedMs().toFixed(3)}`
}

function serverTiming(record: RequestRecord): string {
  const { gatewayMs: own, upstreamStopwatch: upstream, attempts } = record
  const waited = upstream.endedMs()
  const queue = record.queuedMs() > 0 ? `${queueTiming(record)}, ` : ''
  const durations = `gateway;dur=${own.toFixed(3)}, ${queue}upstream;dur=${waited.toFixed(3)}`
  return attempts.length < 2 && attempts[0]?.outcome === 'ok'
    ? durations
    : durations + failedAttempts(attempts)
}

/** The log has all attempts. */
const maxListedAttempts = 8

function failedAttempts(attempts: readonly Attempt[]): string {
  const failed = attempts.filter(({ outcome }) => outcome !== 'ok')
  return failed.slice(0, maxListedAttempts).map(timingEntry).join('')
}

function timingEntry({ route, outcome, status, durationMs: milliseconds }: Attempt): string {
  const description = outcome === circuitOpen ? 'circuit open' : `${status} ${outcome}`
  return `, attempt;desc="${headerSafe(route.provider.name)} ${description}";dur=${milliseconds.toFixed(3)}`
}

/** The name of a provider or a model may have any character, a header may not. */
function headerSafe(name: string): string {
  return name.replace(/[^\w.:/@-]/g, '_')
}
