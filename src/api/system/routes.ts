import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { describe } from '../../http/describe.ts'
import { ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import type { MetricsPage } from './metrics-page.ts'

/** Resolves if the gateway can serve; rejects with the reason if it cannot. */
export type Readiness = () => Promise<void>

const probe = {
  tag: 'System',
  reply: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }),
  unauthenticated: true,
} as const

const aliveDetail = describe({
  ...probe,
  id: 'isAlive',
  summary: 'Check that the process is alive',
  description: 'A liveness probe, which needs no API key and never contacts a provider or the database.',
  errors: [],
})
const readyDetail = describe({
  ...probe,
  id: 'isReady',
  summary: 'Check that the gateway is ready',
  description:
    'A readiness probe, which needs no API key. It fails while the gateway is shutting down, or if the database is unavailable.',
  errors: [503],
})

const metricsDetail = describe({
  tag: 'System',
  id: 'getMetrics',
  summary: 'Get metrics',
  description:
    'Returns metrics in the text format of Prometheus, for local clients or with an admin key as the bearer token.',
  reply: Type.String(),
  mediaType: 'text/plain',
  errors: [403],
  unauthenticated: true,
})

/** The routes of the probes, which need no key and never call a provider, and of the metrics. */
export function systemRoutes(ready: Readiness, metrics: MetricsPage) {
  return new Elysia({ name: 'system' })
    .get('/livez', () => ({ status: 'ok' }), { detail: aliveDetail })
    .get(
      '/readyz',
      async () => {
        await ready().catch(rejectUnready)
        return { status: 'ok' }
      },
      { detail: readyDetail },
    )
    .get(
      '/metrics',
      async ({ request, set }) => {
        const page = await metrics.render(request)
        // An error that was thrown before this is JSON.
        set.headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8'
        return page
      },
      { detail: metricsDetail },
    )
}

/** Throws the 503, with the reason where it is an expected one. */
function rejectUnready(error: unknown): never {
  const reason = error instanceof ApiError ? ` ${error.message}` : ''
  throw serviceUnavailable(`The gateway is not ready.${reason}`, error)
}
