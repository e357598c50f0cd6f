import { expect, onTestFinished, test } from 'bun:test'
import { createDiscovery } from '../../../src/gateway/models/discovery.ts'
import { silentLog } from '../../../src/lib/log.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { kindNamed, provider } from './support/model-fixtures.ts'

/** A discovery of this provider, with a promise of its next change. */
function discoveryOf(engine: Provider, intervalMs = 60_000) {
  let change = Promise.withResolvers<void>()
  let changes = 0
  const onChange = () => {
    changes++
    change.resolve()
    change = Promise.withResolvers()
  }
  const discovery = createDiscovery({ providers: [engine], log: silentLog, onChange, intervalMs })
  onTestFinished(() => discovery.stop())
  return { ...discovery, changed: () => change.promise, changes: () => changes }
}

/** A llama.cpp whose slots have this context; undefined while it loads the model. */
function startLlamaCpp(...slotContexts: readonly (number | undefined)[]) {
  const contexts = [...slotContexts]
  const requested: string[] = []
  const list = {
    data: [
      { id: 'qwen3 8b', meta: { n_ctx_train: 40_960 } },
      { id: 'qwen3', meta: { n_ctx_train: 40_960 } },
    ],
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const { pathname, search } = new URL(request.url)
      requested.push(`${request.method} ${pathname}${search}`)
      if (pathname === '/v1/models') return Response.json(list)
      const context = contexts.length > 1 ? contexts.shift() : contexts[0]
      return context === undefined
        ? Response.json({ error: { code: 503, message: 'Loading model' } }, { status: 503 })
        : Response.json({ default_generation_settings: { id: 0, n_ctx: context }, total_slots: 4 })
    },
  })
  onTestFinished(() => void server.stop(true))
  const engine = provider('box', {
    kind: kindNamed('llamacpp'),
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    discover: true,
  })
  return { engine, requested }
}

test('a model of llama.cpp has the context of a slot, and not that of its training', async () => {
  const { engine, requested } = startLlamaCpp(4096)
  const { start, discovered } = discoveryOf(engine)
  await start()
  expect(discovered().get('box')).toEqual([{ id: 'qwen3', contextWindow: 4096, slots: 4 }])
  // A router must not load the model.
  expect(requested).toEqual(['GET /v1/models', 'GET /props?model=qwen3&autoload=false'])
})

test('the context of llama.cpp is read again, and stays while the server loads its model', async () => {
  const { engine, requested } = startLlamaCpp(undefined, 4096, undefined, 8192)
  const { start, discovered, changed, changes } = discoveryOf(engine, 1)
  await start()
  expect(discovered().get('box')).toEqual([{ id: 'qwen3', contextWindow: undefined }])
  await changed()
  expect(discovered().get('box')).toEqual([{ id: 'qwen3', contextWindow: 4096, slots: 4 }])
  await changed()
  expect(discovered().get('box')).toEqual([{ id: 'qwen3', contextWindow: 8192, slots: 4 }])
  expect([changes(), requested.filter((path) => path.includes('/props')).length >= 4]).toEqual([3, true])
})
