import { Elysia } from 'elysia'
import { serviceUnavailable } from '../lib/errors.ts'

/** Whether the gateway can serve: resolves, or rejects with the reason why not. */
export type Readiness = () => Promise<void>

/** The probes. They need no key, and never call a provider. */
export function systemRoutes(ready: Readiness) {
  return new Elysia({ name: 'system' })
    .get('/livez', () => ({ status: 'ok' }), { detail: { tags: ['System'], summary: 'The process runs' } })
    .get(
      '/readyz',
      async () => {
        await ready().catch((error) => {
          throw serviceUnavailable('The gateway is not ready.', error)
        })
        return { status: 'ok' }
      },
      { detail: { tags: ['System'], summary: 'The gateway can serve' } },
    )
}
