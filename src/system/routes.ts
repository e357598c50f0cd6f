import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { describe } from '../http/describe.ts'
import { serviceUnavailable } from '../lib/errors.ts'

/** Whether the gateway can serve: resolves, or rejects with the reason why not. */
export type Readiness = () => Promise<void>

const probe = {
  tag: 'System',
  reply: Type.Object({ status: Type.Literal('ok') }, { title: 'Health' }),
  open: true,
} as const

const aliveDetail = describe({ ...probe, id: 'isAlive', summary: 'The process runs', errors: [] })
const readyDetail = describe({ ...probe, id: 'isReady', summary: 'The gateway can serve', errors: [503] })

/** The probes. They need no key, and never call a provider. */
export function systemRoutes(ready: Readiness) {
  return new Elysia({ name: 'system' })
    .get('/livez', () => ({ status: 'ok' }), { detail: aliveDetail })
    .get(
      '/readyz',
      async () => {
        await ready().catch((error) => {
          throw serviceUnavailable('The gateway is not ready.', error)
        })
        return { status: 'ok' }
      },
      { detail: readyDetail },
    )
}
