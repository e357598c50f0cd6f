import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { describe } from '../../http/openapi/describe.ts'
import { ApiError, serviceUnavailable } from '../../lib/errors/errors.ts'
import type { MetricsPage } from './metrics-page.ts'

/** Whether the gateway can serve: resolves, or rejects with the reason why not. */
export type Readiness = () => Promise<void>

const probe = {
  tag: 'System',
  reply: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }),
  open: true,
} as const

const aliveDetail = describe({ ...probe, id: 'isAlive', summary: 'The process runs', errors: [] })
const readyDetail = describe({ ...probe, id: 'isReady', summary: 'The gateway can serve', errors: [503] })

const metricsDetail = describe({
  tag: 'System',
  id: 'getMetrics',
  summary: 'Metrics, for Prometheus',
  reply: Type.String(),
  mediaType: 'text/plain',
  errors: [403],
  open: true,
})

/** The probes, which need no key and never call a provider, and the metrics. */
export function systemRoutes(ready: Readiness, metrics: MetricsPage) {
  return new Elysia({ name: 'system' })
    .get('/livez', () => ({ status: 'ok' }), { detail: aliveDetail })
    .get(
      '/readyz',
      async () => {
        await ready().catch(refuse)
        return { status: 'ok' }
      },
      { detail: readyDetail },
    )
    .get(
      '/metrics',
      ({ request, set }) => {
        set.headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8'
        return metrics.show(request)
      },
      { detail: metricsDetail },
    )
}

/** Says why, as far as it was foreseen. */
function refuse(error: unknown): never {
  const why = error instanceof ApiError ? ` ${error.message}` : ''
  throw serviceUnavailable(`The gateway is not ready.${why}`, error)
}
