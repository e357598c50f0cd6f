import { afterEach, expect, test } from 'bun:test'
import { createDiscovery } from '../../src/gateway/models/discovery.ts'
import { createLog } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { provider } from './model-world.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const list = (...ids: string[]) => Response.json({ object: 'list', data: ids.map((id) => ({ id })) })

/** An engine that answers its model list as `answer` says at the time. */
function engine(answer: () => Response | Promise<Response>) {
  const requests: { readonly path: string; readonly headers: Headers }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      requests.push({ path: new URL(request.url).pathname, headers: new Headers(request.headers) })
      return answer()
    },
  })
  ends.push(() => server.stop(true))
  return { url: `http://127.0.0.1:${server.port}/v1`, requests }
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
  const discovery = createDiscovery({ providers, log, onChange, interval })
  ends.unshift(() => discovery.stop())
  return { ...discovery, lines, changed: () => change.promise, changes: () => changes }
}

test('asks at start, with the key and the headers of the provider', async () => {
  const { url, requests } = engine(() => list('a', 'b/c', 'a'))
  const box = provider('box', {
    baseUrl: url,
    discover: true,
    key: new Secret('k'),
    headers: { 'x-team': 't' },
  })
  const { start, discovered, changes, lines } = discoveryOf([box])
  await start()
  expect(discovered()).toEqual(new Map([['box', ['a', 'b/c']]]))
  expect(changes()).toBe(1)
  expect(requests[0]!.path).toBe('/v1/models')
  expect(requests[0]!.headers.get('authorization')).toBe('Bearer k')
  expect(requests[0]!.headers.get('x-team')).toBe('t')
  expect(lines.join()).not.toContain('Bearer')
})

test('does not ask a provider that is not to be asked', async () => {
  const { url, requests } = engine(() => list('a'))
  const { start, discovered, changes } = discoveryOf([provider('box', { baseUrl: url })])
  await start()
  expect(requests).toEqual([])
  expect(discovered().size).toBe(0)
  expect(changes()).toBe(0)
})

test('tells of a change, and not of an answer that says the same in another order', async () => {
  const answers = [list('a', 'b'), list('b', 'a'), list('b')]
  const { url, requests } = engine(() => answers.shift() ?? list('b'))
  const { start, discovered, changed, changes } = discoveryOf(
    [provider('box', { baseUrl: url, discover: true })],
    1,
  )
  await start()
  await changed()
  expect(discovered().get('box')).toEqual(['b'])
  expect(requests.length).toBeGreaterThanOrEqual(3)
  expect(changes()).toBe(2)
})

test('a failure keeps the last good list and is logged once', async () => {
  let asked = 0
  const fourth = Promise.withResolvers<void>()
  const { url } = engine(() => {
    if (++asked === 4) fourth.resolve()
    return asked === 1 ? list('a') : new Response('no', { status: 500 })
  })
  const { start, stop, discovered, changes, lines } = discoveryOf(
    [provider('box', { baseUrl: url, discover: true })],
    1,
  )
  await start()
  await fourth.promise
  await stop()
  expect(discovered().get('box')).toEqual(['a'])
  expect(changes()).toBe(1)
  expect(lines.filter((line) => line.includes('status 500')).length).toBe(1)
})

const body = (text: string) => () => new Response(text)
test.each([
  ['no JSON', body('<html>')],
  ['another list', body('{"models": []}')],
  ['a list without end', () => new Response('x'.repeat(9 * 1024 * 1024))],
  ['a redirect', () => Response.redirect('http://127.0.0.1:1/elsewhere')],
])('%s is a failure, and other providers are listed all the same', async (_, answer) => {
  const bad = engine(answer)
  const good = engine(() => list('a', 'with space'))
  const { start, discovered, lines } = discoveryOf([
    provider('bad', { baseUrl: bad.url, discover: true }),
    provider('good', { baseUrl: good.url, discover: true }),
  ])
  await start()
  expect(discovered()).toEqual(new Map([['good', ['a']]]))
  expect(lines.filter((line) => line.includes('"warn"')).length).toBe(1)
  expect(lines.join()).toContain('"provider":"bad"')
})

test('stopping ends a question that is under way', async () => {
  const asked = Promise.withResolvers<void>()
  const { url } = engine(() => {
    asked.resolve()
    return new Promise<Response>(() => {})
  })
  const { start, stop, lines, changes } = discoveryOf([provider('box', { baseUrl: url, discover: true })])
  const started = start()
  await asked.promise
  await stop()
  await started
  expect(lines).toEqual([])
  expect(changes()).toBe(0)
})
