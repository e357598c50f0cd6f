import { expect, onTestFinished, test } from 'bun:test'
import type { CheckReport } from '../../src/cli/check/report.ts'
import { temporaryHome } from '../unit/config/support/temporary-home.ts'
import { callWeir } from './support/run-weir.ts'

/** A provider that answers every request so, and tells what it was asked. */
function startProvider(reply: () => Response | Promise<Response>) {
  const requested: { path: string; headers: Headers }[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url, headers }) => {
      const { pathname, search } = new URL(url)
      requested.push({ path: pathname + search, headers: new Headers(headers) })
      return reply()
    },
  })
  onTestFinished(() => void server.stop(true))
  return { url: `http://127.0.0.1:${server.port}`, asked: requested }
}

const openai = (...ids: string[]) => Response.json({ object: 'list', data: ids.map((id) => ({ id })) })

async function check(settings: object, ...flags: string[]) {
  using home = temporaryHome({ 'work/weir.yaml': JSON.stringify(settings) })
  return await callWeir(['check', ...flags], home.place('work'))
}

const routeTo = (provider: string, model: string) => ({
  slug: `acme/${model}`,
  routes: [{ provider, model }],
})

test('weir check --online lists the models of every provider with its key, and reports unknown ones', async () => {
  const box = startProvider(() => openai('known', 'dated-2026-01-01'))
  const claude = startProvider(() => openai('claude-1'))
  const google = startProvider(() => Response.json({ models: [{ name: 'models/gemini-1' }] }))
  const plain = startProvider(() => Response.json([{ id: 'bare' }]))
  const settings = {
    providers: {
      box: { kind: 'vllm', base_url: `${box.url}/v1`, api_key: 'sk-canary-box' },
      claude: { kind: 'anthropic', base_url: claude.url, api_key: 'sk-canary-claude' },
      google: { kind: 'gemini', base_url: `${google.url}/v1beta`, api_key: 'canary-google' },
      plain: { kind: 'openai-compatible', base_url: plain.url },
      quiet: { kind: 'perplexity', base_url: plain.url, api_key: 'sk-canary-quiet' },
    },
    models: [
      routeTo('box', 'known'),
      routeTo('box', 'dated'),
      routeTo('box', 'unheard'),
      routeTo('google', 'gemini-1'),
      routeTo('quiet', 'anything'),
    ],
  }
  const { code, out, err } = await check(settings, '--online', '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const { ok, online } = JSON.parse(out) as CheckReport
  expect(ok).toBe(true)
  const reply = { ok: true, error: null, unknown: [] }
  expect(online?.toSorted((a, b) => (a.provider < b.provider ? -1 : 1))).toEqual([
    { ...reply, provider: 'box', models: 2, unknown: ['unheard'] },
    { ...reply, provider: 'claude', models: 1 },
    { ...reply, provider: 'google', models: 1 },
    { ...reply, provider: 'plain', models: 1 },
    { ...reply, provider: 'quiet', ok: null, models: null },
  ])
  expect(box.asked.map(({ path }) => path)).toEqual(['/v1/models'])
  expect(box.asked[0]?.headers.get('authorization')).toBe('Bearer sk-canary-box')
  expect(claude.asked.map(({ path }) => path)).toEqual(['/v1/models?limit=1000'])
  expect(claude.asked[0]?.headers.get('x-api-key')).toBe('sk-canary-claude')
  expect(google.asked.map(({ path }) => path)).toEqual(['/v1beta/models?pageSize=1000'])
  expect(plain.asked.map(({ path }) => path)).toEqual(['/models'])
  const text = await check(settings, '--online')
  expect(text.out).toContain('Routes to models that their providers do not list\n  box: unheard')
  expect(text.out).toContain('  quiet: not checked, because it has no model list')
  expect(out + text.out).not.toContain('canary')
})

test.each([
  ['rejects the key', () => new Response('no', { status: 401 }), 'It returned status 401.'],
  ['responds with something else', () => new Response('<html>'), 'It did not return a model list.'],
])('a provider that %s is a failure, reported with its reason', async (_, reply, reason) => {
  const bad = startProvider(reply)
  const good = startProvider(() => openai('known'))
  const providers = {
    bad: { kind: 'vllm', base_url: bad.url, api_key: 'sk-canary' },
    good: { kind: 'vllm', base_url: good.url },
  }
  const { code, out, err } = await check({ providers }, '--online')
  expect({ code, err }).toEqual({ code: 1, err: '1 provider failed.\n' })
  expect(out).toContain(`  bad: failed. ${reason}\n`)
  expect(out).toContain('  good: 1 model\n')
  expect(out).not.toContain('canary')
})

test('an unreachable provider is a failure, and a slow one is awaited with a message', async () => {
  const gone = startProvider(() => openai())
  const slow = startProvider(async () => {
    await Bun.sleep(1500)
    return openai('known')
  })
  const providers = {
    gone: { kind: 'vllm', base_url: 'http://127.0.0.1:1/v1' },
    slow: { kind: 'vllm', base_url: slow.url },
  }
  const { code, out, err } = await check({ providers }, '--online')
  expect(code).toBe(1)
  expect(err).toBe('Waiting for slow.\n1 provider failed.\n')
  expect(out).toMatch(/ {2}gone: failed\. The connection failed \(\w+\)\.\n/)
  expect(gone.asked).toEqual([])
})

test('weir check without --online calls no provider', async () => {
  const box = startProvider(() => openai('known'))
  const { code, out } = await check({ providers: { box: { kind: 'vllm', base_url: box.url } } })
  expect(code).toBe(0)
  expect(out).not.toContain('Asked')
  expect(box.asked).toEqual([])
})

/** A provider that lists its models at this path only. */
function startProviderAt(path: string) {
  return startRouted((pathname) =>
    pathname === path ? openai('known') : new Response('no', { status: 404 }),
  )
}

function startRouted(reply: (pathname: string) => Response) {
  const requested: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => {
      const { pathname } = new URL(url)
      requested.push(pathname)
      return reply(pathname)
    },
  })
  onTestFinished(() => void server.stop(true))
  return { url: `http://127.0.0.1:${server.port}`, asked: requested }
}

test.each([
  ['an endpoint is at its end', '/v1/models', '/v1/chat/completions', '/v1'],
  ['the version is missing', '/v1/models', '', '/v1'],
  ['the version is there twice', '/v1/models', '/v1/v1', '/v1'],
  ['there should be no version', '/models', '/v1', ''],
  ['the version is behind another path', '/openai/v1/models', '/openai', '/openai/v1'],
])('a base URL that fails because %s is reported with the one that works', async (_, list, wrong, right) => {
  const box = startProviderAt(list)
  const providers = { box: { kind: 'vllm', base_url: box.url + wrong, api_key: 'sk-canary-box' } }
  const { code, out } = await check({ providers }, '--online', '--json')
  const { online } = JSON.parse(out) as CheckReport
  expect(code).toBe(1)
  expect(online).toEqual([
    {
      provider: 'box',
      ok: false,
      models: null,
      error: `It returned status 404. The model list is available at ${box.url}${right}. Set base_url to this URL.`,
      working_base_url: box.url + right,
      unknown: [],
    },
  ])
  expect(out).not.toContain('canary')
})

test('no base URL is suggested for a kind whose paths contain the version', async () => {
  const claude = startProviderAt('/v1/models')
  const base_url = `${claude.url}/v1/messages`
  const providers = { claude: { kind: 'anthropic', base_url, api_key: 'sk-canary' } }
  const { out } = await check({ providers }, '--online')
  expect(out).toContain(`The model list is available at ${claude.url}. Set base_url to this URL.`)
})

test.each([401, 403])(
  'a provider that rejects the key with %p is tried at no other base URL',
  async (status) => {
    const box = startRouted(() => new Response('no', { status }))
    await check({ providers: { box: { kind: 'vllm', base_url: box.url } } }, '--online')
    expect(box.asked).toEqual(['/models'])
  },
)

test('a provider that fails everywhere is tried at a few base URLs of its own host only', async () => {
  const box = startRouted(() => new Response('no', { status: 404 }))
  const { out } = await check(
    { providers: { box: { kind: 'vllm', base_url: `${box.url}/a/b` } } },
    '--online',
  )
  expect(out).toContain('  box: failed. It returned status 404.\n')
  expect(box.asked).toEqual(['/a/b/models', '/a/b/v1/models', '/v1/models', '/api/v1/models', '/models'])
})

test('an endpoint at the end of a base URL is a warning, also where no provider is called', async () => {
  const providers = { box: { kind: 'vllm', base_url: 'http://gpu.test:8000/v1/chat/completions/' } }
  const { code, out } = await check({ providers })
  expect(code).toBe(0)
  expect(out).toContain(
    'providers.box.base_url: ends with an endpoint path, which Weir appends itself. Use http://gpu.test:8000/v1.',
  )
})

test('discovered models are counted as a server would, where discovery is enabled', async () => {
  const box = startProvider(() => openai('one', 'two'))
  const settings = {
    providers: { box: { kind: 'vllm', base_url: box.url, discover: true } },
    models: [{ slug: 'box/one', context_window: 5 }],
  }
  const offline = await check(settings)
  expect(offline.out).toContain('Models: 0 enabled, ')
  expect(offline.out).toContain(
    'Without the models of box, which are discovered. To include them, use --online.',
  )
  const online = await check(settings, '--online')
  expect(online.out).toContain('Models: 2 enabled, ')
  expect(online.out).not.toContain('Not counted')
  expect(online.out).not.toContain('cannot be served')
})

test('weir check --online names the slots of an engine whose concurrency is not set or too high', async () => {
  const box = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: ({ url }) => (url.includes('/props') ? Response.json({ total_slots: 4 }) : openai('a')),
  })
  onTestFinished(() => void box.stop(true))
  const entry = { kind: 'llamacpp', base_url: `http://127.0.0.1:${box.port}/v1` }
  const providers = {
    open: entry,
    high: { ...entry, concurrency: 5 },
    right: { ...entry, concurrency: 4 },
    shared: { ...entry, concurrency: 2 },
  }
  const models = Object.keys(providers).map((name) => ({ ...routeTo(name, 'a'), slug: `acme/${name}` }))
  const { out } = await check({ providers, models }, '--online')
  const [, section = ''] = out.split('Engines with few slots\n')
  expect(section.trimEnd().split('\n')).toEqual([
    '  open: Set “concurrency: 4”, and keys take turns for its slots.',
    '  high: Set “concurrency: 4”, and keys take turns for its slots.',
  ])
  const report = JSON.parse((await check({ providers, models }, '--online', '--json')).out) as CheckReport
  expect(report.online?.map(({ slots }) => slots)).toEqual([4, 4, undefined, undefined])
})
