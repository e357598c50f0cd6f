import { afterEach, expect, test } from 'bun:test'
import { createDiscovery, retryPauseMs } from '../../../src/gateway/models/discovery.ts'
import { createLog, silentLog } from '../../../src/lib/log.ts'
import { Secret } from '../../../src/lib/secret.ts'
import type { Provider } from '../../../src/providers/provider.ts'
import { kindNamed, listed, provider } from './support/model-fixtures.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const list = (...ids: string[]) => Response.json({ object: 'list', data: ids.map((id) => ({ id })) })

/** An engine that answers its model list as `answer` says at the time. */
function engine(reply: () => Response | Promise<Response>) {
  const requests: { readonly path: string; readonly headers: Headers }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      requests.push({ path: new URL(request.url).pathname, headers: new Headers(request.headers) })
      return reply()
    },
  })
  ends.push(() => server.stop(true))
  return { url: `http://127.0.0.1:${server.port}/v1`, requests, server }
}

/** A discovery of these providers, with what it logged and a promise of its next change. */
function discoveryOf(providers: readonly Provider[], interval = 60_000) {
  const lines: string[] = []
  let change = Promise.withResolvers<void>()
  let changes = 0
  const onChange = () => {
    changes++
    change.resolve()
    change = Promise.withResolvers()
  }
  const log = createLog((line) => void lines.push(line))
  const discovery = createDiscovery({ providers, log, onChange, intervalMs: interval })
  ends.unshift(() => discovery.stop())
  return { ...discovery, lines, changed: () => change.promise, changes: () => changes }
}

test('discovery lists models at startup, with the key and the headers of the provider', async () => {
  const { url, requests } = engine(() => list('a', 'b/c', 'a'))
  const box = provider('box', {
    baseUrl: url,
    discover: true,
    key: new Secret('k'),
    headers: { 'x-team': 't' },
  })
  const { start, discovered, changes, lines } = discoveryOf([box])
  await start()
  expect(discovered()).toEqual(new Map([['box', listed('a', 'b/c')]]))
  expect(changes()).toBe(1)
  expect(requests[0]!.path).toBe('/v1/models')
  expect(requests[0]!.headers.get('authorization')).toBe('Bearer k')
  expect(requests[0]!.headers.get('x-team')).toBe('t')
  expect(lines.join()).not.toContain('Bearer')
})

test('discovery does not call a provider with discovery disabled', async () => {
  const { url, requests } = engine(() => list('a'))
  const { start, discovered, changes } = discoveryOf([provider('box', { baseUrl: url })])
  await start()
  expect(requests).toEqual([])
  expect(discovered().size).toBe(0)
  expect(changes()).toBe(0)
})

test('discovery reports a change, and ignores the same list in another order', async () => {
  const answers = [list('a', 'b'), list('b', 'a'), list('b')]
  const { url, requests } = engine(() => answers.shift() ?? list('b'))
  const { start, discovered, changed, changes } = discoveryOf(
    [provider('box', { baseUrl: url, discover: true })],
    1,
  )
  await start()
  await changed()
  expect(discovered().get('box')).toEqual(listed('b'))
  expect(requests.length).toBeGreaterThanOrEqual(3)
  expect(changes()).toBe(2)
})

test('a failed discovery keeps the last good list and is logged once', async () => {
  let requested = 0
  const fourth = Promise.withResolvers<void>()
  const { url } = engine(() => {
    if (++requested === 4) fourth.resolve()
    return requested === 1 ? list('a') : new Response('no', { status: 500 })
  })
  const { start, stop, discovered, changes, lines } = discoveryOf(
    [provider('box', { baseUrl: url, discover: true })],
    1,
  )
  await start()
  await fourth.promise
  await stop()
  expect(discovered().get('box')).toEqual(listed('a'))
  expect(changes()).toBe(1)
  expect(lines.filter((line) => line.includes('status 500')).length).toBe(1)
})

const body = (text: string) => () => new Response(text)
test.each([
  ['no JSON', body('<html>')],
  ['another list', body('{"models": []}')],
  ['a list without end', () => new Response('x'.repeat(9 * 1024 * 1024))],
  ['a redirect', () => Response.redirect('http://127.0.0.1:1/elsewhere')],
])('%s is a failed discovery, and the models of other providers are listed anyway', async (_, reply) => {
  const bad = engine(reply)
  const good = engine(() => list('a', 'with space'))
  const { start, discovered, lines } = discoveryOf([
    provider('bad', { baseUrl: bad.url, discover: true }),
    provider('good', { baseUrl: good.url, discover: true }),
  ])
  await start()
  expect(discovered()).toEqual(new Map([['good', listed('a')]]))
  expect(lines.filter((line) => line.includes('"warn"')).length).toBe(1)
  expect(lines.join()).toContain('"provider":"bad"')
})

test('stopping discovery aborts an open request', async () => {
  const requested = Promise.withResolvers<void>()
  const { url } = engine(() => {
    requested.resolve()
    return new Promise<Response>(() => {})
  })
  const { start, stop, lines, changes } = discoveryOf([provider('box', { baseUrl: url, discover: true })])
  const started = start()
  await requested.promise
  await stop()
  await started
  expect(lines).toEqual([])
  expect(changes()).toBe(0)
})

test('discovery retries a failure after 1, 2, 4 … 60 seconds, and refreshes every minute after a success', () => {
  const pauses = [0, 1, 2, 3, 4, 5, 6, 7, 8, 5000].map((failures) => retryPauseMs(failures, 60_000) / 1000)
  expect(pauses).toEqual([60, 1, 2, 4, 8, 16, 32, 60, 60, 60])
})

test('an engine that starts late is discovered without waiting for the next minute', async () => {
  const probe = engine(() => list())
  const { port } = new URL(probe.url)
  await probe.server.stop(true)
  const box = provider('box', { baseUrl: probe.url, discover: true })
  const { start, discovered, changed } = discoveryOf([box])
  await start()
  expect(discovered().size).toBe(0)
  const late = Bun.serve({ port: Number(port), hostname: '127.0.0.1', fetch: () => list('a') })
  ends.push(() => late.stop(true))
  await changed()
  expect(discovered().get('box')).toEqual(listed('a'))
})

test('the failures of one provider do not make discovery call another one more often', async () => {
  const good = engine(() => list('a'))
  let requested = 0
  const third = Promise.withResolvers<void>()
  const bad = engine(() => {
    if (++requested === 3) third.resolve()
    return new Response('no', { status: 500 })
  })
  const { start } = discoveryOf([
    provider('good', { baseUrl: good.url, discover: true }),
    provider('bad', { baseUrl: bad.url, discover: true }),
  ])
  await start()
  await third.promise
  expect(good.requests.length).toBe(1)
})

const entries: readonly (readonly [engine: string, entry: object, contextWindow: number | undefined])[] = [
  ['vLLM', { max_model_len: 32_768, root: 'x' }, 32_768],
  ['llama.cpp', { meta: { n_vocab: 1000, n_ctx_train: 131_072, n_embd: 2048 } }, 131_072],
  ['llama.cpp with a size of its own', { meta: { n_ctx_train: 131_072, n_ctx: 4096 } }, 4096],
  ['OpenRouter', { context_length: 200_000 }, 200_000],
  ['Groq', { context_window: 131_072 }, 131_072],
  ['nonsense', { max_model_len: -5, context_length: '4096', context_window: 1.5, meta: [] }, undefined],
]

test.each([...entries])('discovery reads the context window of %s', async (_, entry, contextWindow) => {
  const { url } = engine(() => Response.json({ data: [{ id: 'm', ...entry }] }))
  const { start, discovered } = discoveryOf([provider('box', { baseUrl: url, discover: true })])
  await start()
  expect(discovered().get('box')).toEqual([{ id: 'm', contextWindow }])
})

test('a changed context window is a change', async () => {
  const answers = [4096, 4096, 8192].map((max_model_len) =>
    Response.json({ data: [{ id: 'm', max_model_len }] }),
  )
  const { url } = engine(() => answers.shift() ?? Response.json({ data: [{ id: 'm', max_model_len: 8192 }] }))
  const { start, changed, discovered } = discoveryOf([provider('box', { baseUrl: url, discover: true })], 1)
  await start()
  await changed()
  expect(discovered().get('box')).toEqual([{ id: 'm', contextWindow: 8192 }])
})

test('each model of an Ollama is described once, through its native API', async () => {
  const shown: Record<string, object> = {
    big: { model_info: { 'general.architecture': 'llama', 'llama.context_length': 131_072 } },
    small: { model_info: { 'qwen3.context_length': 40_960 }, parameters: 'stop "a"\nnum_ctx    8192' },
    silent: {},
  }
  const requested: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/v1/models') return list('big', 'small', 'silent', 'broken')
      const { model } = (await request.json()) as { model: string }
      requested.push(`${request.method} ${pathname} ${model}`)
      return shown[model] ? Response.json(shown[model]) : new Response('no', { status: 404 })
    },
  })
  ends.push(() => server.stop(true))
  const ollama = provider('ollama', {
    kind: kindNamed('ollama'),
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    discover: true,
  })
  const log = silentLog
  const discovery = createDiscovery({ providers: [ollama], log, onChange: () => {} })
  ends.unshift(() => discovery.stop())
  await discovery.start()
  expect(discovery.discovered().get('ollama')).toEqual([
    { id: 'big', contextWindow: 131_072 },
    { id: 'small', contextWindow: 8192 },
    { id: 'silent', contextWindow: undefined },
    { id: 'broken', contextWindow: undefined },
  ])
  expect(requested.toSorted()).toEqual(
    ['big', 'broken', 'silent', 'small'].map((model) => `POST /api/show ${model}`),
  )
})
