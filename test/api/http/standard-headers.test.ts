import { expect, test } from 'bun:test'
import { streamReply } from '../../support/chat-fixtures.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'

const key = { authorization: 'Bearer admin-key-of-the-operator' }

test('every reply tells browsers not to guess its content type', async () => {
  const environment = { WEIR_ADMIN_KEY: 'admin-key-of-the-operator' }
  const settings = { cors: ['https://app.example'] }
  await using scenario = await startScenario(streamReply(), { environment, settings })
  const { app } = scenario
  const stream = { body: { ...chatRequest, stream: true } }
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
  const requests = [
    [200, '/v1/models'],
    [200, '/v1/chat/completions', stream],
    [400, '/v1/chat/completions', { body: {} }],
    [401, '/v1/models', { headers: { authorization: null } }],
    [404, '/v1/none'],
    [405, '/v1/models', { method: 'DELETE' }],
    [204, '/v1/chat/completions', { method: 'OPTIONS', headers: preflight }],
    [200, '/livez'],
    [200, '/readyz'],
    [200, '/metrics'],
    [200, '/openapi.json'],
    [200, '/admin/organizations', { headers: key }],
    [401, '/admin/organizations'],
    [200, '/', { headers: { accept: 'text/html' } }],
    [200, '/', { method: 'HEAD' }],
  ] as const
  for (const [status, path, options] of requests) {
    const reply = await app.request(path, options)
    await reply.text()
    const received = [path, reply.status, reply.headers.get('x-content-type-options')]
    expect(received).toEqual([path, status, 'nosniff'])
  }
})
