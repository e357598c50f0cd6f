import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { SettingsFile } from '../../../src/config/settings.ts'
import { type App, startApp } from '../../support/app.ts'
import { projectFolder } from '../../support/source.ts'

const pem = (name: string) => join(projectFolder, `test/fixtures/tls/${name}.pem`)
const secure: SettingsFile = { tls: { cert: pem('certificate'), key: pem('key') } }
const chatBody = { model: 'weir/echo', messages: [{ role: 'user', content: 'Hello, river' }] }

/** Sends a request with this host name in its URL. */
async function send(app: App, scheme: string, host: string, path: string, body?: object): Promise<Response> {
  const url = `${scheme}://127.0.0.1:${new URL(app.url).port}${path}`
  const ca = await Bun.file(pem('certificate')).text()
  return fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { host, authorization: `Bearer ${app.key}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
    tls: { ca },
    keepalive: false,
  })
}

describe.each([
  ['http', {}],
  ['https', secure],
] as const)('a gateway that serves %s', (scheme, settings) => {
  test.each(['a', 'ai', 'ai:80', 'api', 'node', 'localhost', 'api.example.com', '127.0.0.1:9347', '[::1]'])(
    'finds its routes for clients that know it as %s',
    async (host) => {
      await using app = await startApp({ settings })
      for (const path of ['/livez', '/readyz', '/v1/models', '/v1/models?limit=1'])
        expect([path, (await send(app, scheme, host, path)).status]).toEqual([path, 200])
      const reply = await send(app, scheme, host, '/v1/chat/completions', chatBody)
      expect(await reply.json()).toMatchObject({ choices: [{ message: { content: 'Hello, river' } }] })
    },
  )

  test('streams, and shows its metrics to a client of this machine', async () => {
    await using app = await startApp({ settings })
    const stream = await send(app, scheme, 'localhost', '/v1/chat/completions', { ...chatBody, stream: true })
    expect(await stream.text()).toEndWith('data: [DONE]\n\n')
    expect(await (await send(app, scheme, 'localhost', '/metrics')).text()).toContain('weir_requests_total')
  })

  test('refuses its metrics to a client that knows it by another name, with an error in JSON', async () => {
    await using app = await startApp({ settings })
    const reply = await send(app, scheme, 'evil.example.com', '/metrics')
    expect([reply.status, reply.headers.get('content-type')]).toEqual([403, 'application/json;charset=utf-8'])
    expect(await reply.json()).toMatchObject({ error: { code: 'metrics_forbidden' } })
  })

  test('names the path of a request that has no route, without the host', async () => {
    await using app = await startApp({ settings })
    const reply = await send(app, scheme, 'ai', '/v2/models')
    expect(reply.status).toBe(404)
    expect(await reply.text()).toContain('Unknown endpoint: GET /v2/models.')
  })
})
