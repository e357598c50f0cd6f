import { describe, expect, onTestFinished, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { command as connect } from '../../src/cli/commands/connect.ts'
import { command as keys } from '../../src/cli/commands/keys.ts'
import { connectTools } from '../../src/cli/connect/tools.ts'
import { databaseName } from '../../src/storage/database-location.ts'
import { startApp } from '../support/app.ts'
import { jsonReply } from '../support/chat-fixtures.ts'
import { startScenario } from '../support/scenario.ts'
import { projectFolder } from '../support/source.ts'
import { runWeir } from './support/run-weir.ts'
import { storageFixture } from './support/storage-fixture.ts'

const keyForm = /^sk-weir-[0-9A-Za-z]{12}-[0-9A-Za-z]{32}$/
const key = 'sk-weir-Test00000000-SecretSecretSecretSecretSecret00'
// An Ollama of the developer is not to be found.
const environment = { OLLAMA_HOST: 'elsewhere.test' }

const certificate = (name: string) => join(projectFolder, `test/fixtures/tls/${name}.pem`)

/** A running gateway, and the commands on its data. */
async function startServed() {
  const fixture = storageFixture(environment)
  const app = await startApp({ database: join(fixture.data, databaseName) })
  const { port } = new URL(app.url)
  const run = async (...args: string[]) => {
    const { code, out, err } = await fixture.say(connect, ...args, '--port', port, '--json')
    return { code, err, json: JSON.parse(out) }
  }
  return { ...fixture, app, port, run, [Symbol.asyncDispose]: app.stop }
}

/** A port on which nothing listens. */
async function closedPort(): Promise<string> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  return String(port)
}

test('weir connect lists every tool with a line', async () => {
  const { say: run } = storageFixture(environment)
  const { out } = await run(connect)
  for (const { name, title } of connectTools) expect(out).toMatch(new RegExp(`^${name} +${title} `, 'm'))
  const list = JSON.parse((await run(connect, '--json')).out)
  expect(list.map(({ tool }: { tool: string }) => tool)).toEqual(connectTools.map(({ name }) => name))
})

test('weir connect prints the address of the settings, and reports that no gateway runs there', async () => {
  const { say: run } = storageFixture(environment)
  const port = await closedPort()
  const { code, out, err } = await run(connect, 'openai', '--port', port)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toContain(`base_url="http://127.0.0.1:${port}/v1"`)
  expect(out).toContain('is not running')
  expect(out).toContain('The environment variable WEIR_API_KEY must contain an API key')
})

test('weir connect takes the address from the environment, and from --url before all others', async () => {
  const port = await closedPort()
  const { say: run } = storageFixture({ ...environment, WEIR_HOST: '0.0.0.0', WEIR_PORT: port })
  expect(JSON.parse((await run(connect, 'curl', '--json')).out)).toMatchObject({
    base_url: `http://localhost:${port}/v1`,
  })
  const url = `http://127.0.0.1:${port}/v1/`
  expect(JSON.parse((await run(connect, 'curl', '--url', url, '--json')).out)).toMatchObject({
    base_url: `http://127.0.0.1:${port}/v1`,
  })
})

test('weir connect reports a gateway that runs at the address', async () => {
  await using served = await startServed()
  const { json } = await served.run('codex')
  expect(json).toMatchObject({
    tool: 'codex',
    base_url: `${served.app.url}/v1`,
    running: true,
    model: 'weir/echo',
  })
  expect(json).not.toHaveProperty('key')
  expect(json.environment).toEqual({ WEIR_API_KEY: '$WEIR_API_KEY' })
})

test('weir connect sends nothing to the proxy of the environment', async () => {
  await using served = await startServed()
  const proxied: string[] = []
  using proxy = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      proxied.push(request.url)
      return new Response('', { status: 502 })
    },
  })
  const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy']
  const proxies = Object.fromEntries(variables.map((name) => [name, proxy.url.origin]))
  const args = ['connect', 'codex', '--url', served.app.url, '--key', served.app.key, '--json']
  const { code, out } = await runWeir(args, dirname(served.data), { ...environment, ...proxies })
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ running: true, model: 'weir/echo' })
  await served.app.requestLines.beyond(0)
  expect(served.app.requestLines.all.map((line) => JSON.parse(line).path)).toEqual(['/v1/models'])
  expect(proxied).toEqual([])
})

test('a server that is not a gateway is not taken for one', async () => {
  const other = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('x'.repeat(100_000)) })
  const { say: run } = storageFixture(environment)
  const { out } = await run(connect, 'codex', '--port', String(other.port), '--json')
  expect(JSON.parse(out)).toMatchObject({ running: false })
  await other.stop(true)
})

test('a gateway whose certificate is not trusted is reported as running, and gets no key', async () => {
  const tls = { cert: certificate('certificate'), key: certificate('key') }
  await using app = await startApp({ settings: { tls } })
  const { say: run } = storageFixture(environment)
  const url = `https://127.0.0.1:${new URL(app.url).port}`
  const { out } = await run(connect, 'codex', '--url', url, '--key', key, '--json')
  expect(JSON.parse(out)).toMatchObject({ base_url: `${url}/v1`, running: true, model: 'weir/echo' })
  // The request for the models is logged, so the key was sent with none before this one.
  const ca = await Bun.file(tls.cert).text()
  const listed = await fetch(`${url}/v1/models`, {
    headers: { authorization: `Bearer ${app.key}` },
    tls: { ca },
  })
  expect(await app.requestLines.of(listed)).toMatchObject({ path: '/v1/models', status: 200 })
  expect(app.requestLines.all).toHaveLength(1)
})

test('the key is not sent to the address of a redirect', async () => {
  const requested: string[] = []
  const gateway = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url)
      requested.push(pathname)
      return pathname === '/livez' ? Response.json({ status: 'ok' }) : Response.redirect('/elsewhere')
    },
  })
  onTestFinished(() => void gateway.stop(true))
  const { say: run } = storageFixture(environment)
  await run(connect, 'codex', '--port', String(gateway.port), '--key', key)
  expect(requested).toEqual(['/livez', '/v1/models'])
})

test('a server that accepts connections and never replies is not waited for', async () => {
  const requested = Promise.withResolvers<void>()
  const silent = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    fetch() {
      requested.resolve()
      return new Promise<never>(() => {})
    },
  })
  onTestFinished(() => void silent.stop(true))
  const { say: run } = storageFixture(environment)
  const result = run(connect, 'codex', '--port', String(silent.port), '--json')
  await requested.promise
  expect(JSON.parse((await result).out)).toMatchObject({ running: false })
})

test('weir connect --key offers the models that the gateway serves, which may be others than those of the settings here', async () => {
  const { say: run, data } = storageFixture(environment)
  await using scenario = await startScenario(jsonReply(), { database: join(data, databaseName) })
  const args = ['llm', '--url', scenario.app.url, '--json']
  const served = JSON.parse((await run(connect, ...args, '--key', key)).out)
  expect(served).toMatchObject({
    running: true,
    key,
    model: 'acme/river',
    environment: { WEIR_API_KEY: key },
  })
  expect(served.files[0].content).toContain('model_name: "acme/river"')
  expect(JSON.parse((await run(connect, ...args)).out)).toMatchObject({ running: true, model: 'weir/echo' })
  expect(scenario.acme.requests).toEqual([])
})

test('a key that the gateway rejects falls back to the models of the settings', async () => {
  await using served = await startServed()
  const { json } = await served.run('codex', '--key', `${key}00`)
  expect(json).toMatchObject({ running: true, model: 'weir/echo' })
})

test('weir connect --create-key creates a key with the name of the tool that the gateway accepts', async () => {
  await using served = await startServed()
  const { out, err } = await served.say(connect, 'aider', '--create-key', '--port', served.port)
  const created = /OPENAI_API_KEY=(\S+)/.exec(out)?.[1] ?? ''
  expect(created).toMatch(keyForm)
  expect(out.split(created)).toHaveLength(2)
  expect(err).toContain('only time')
  expect(err).not.toContain(created)
  const listed = JSON.parse((await served.say(keys, 'list', '--json')).out)
  expect(listed.at(-1)).toMatchObject({ name: 'aider', organization: 'default', expires_at: null })
  const headers = { authorization: `Bearer ${created}` }
  expect((await served.app.request('/v1/models', { headers })).status).toBe(200)
})

describe('weir connect with wrong usage prints no settings and creates no key', () => {
  test.each([
    { args: ['codx'], says: 'Did you mean codex?' },
    { args: ['flood'], says: 'Available: curl, openai' },
    { args: ['codex', '--key', 'sk-weir-cut'], says: 'is not an API key' },
    { args: ['codex', '--key', key, '--create-key'], says: 'either --key or --create-key' },
    { args: ['codex', '--org', 'acme'], says: '--org requires --create-key' },
    { args: ['codex', '--model', 'a\u001b[2J'], says: 'control characters' },
    { args: ['codex', '--url', 'weir.example.com', '--create-key'], says: '--url must be an address' },
    { args: ['codex', '--url', 'https://a.test/path', '--create-key'], says: '--url must be an address' },
    { args: ['codex', '--url', 'file:///v1', '--create-key'], says: '--url must be an address' },
    { args: ['codex', '--url', 'https://a:b@c.test', '--create-key'], says: '--url must be an address' },
  ])('$args', async ({ args, says }) => {
    await using served = await startServed()
    const { code, out, err } = await served.say(connect, ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(says)
    expect(err).not.toContain('sk-weir-cut')
    expect(JSON.parse((await served.say(keys, 'list', '--json')).out)).toHaveLength(1)
  })
})

test('weir connect --create-key without data fails and names the folder', async () => {
  const { say: run, data } = storageFixture(environment)
  const { code, out, err } = await run(connect, 'codex', '--create-key', '--port', await closedPort())
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain(data)
})

test('the port 0 has no address, so --url is needed', async () => {
  const { say: run } = storageFixture(environment)
  const { code, err } = await run(connect, 'codex', '--port', '0')
  expect(code).toBe(1)
  expect(err).toContain('--url')
})
