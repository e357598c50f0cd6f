import { afterAll, expect, test } from 'bun:test'
import { startApp } from '../../support/app.ts'

const page = 'https://page.example'
const open = await startApp({ settings: { cors: [page] } })
const closed = await startApp()
afterAll(() => Promise.all([open.stop(), closed.stop()]))

const preflight = {
  method: 'OPTIONS',
  headers: {
    authorization: null,
    origin: page,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization, x-stainless-os',
  },
}

test('a browser may call from a configured origin', async () => {
  const requested = await open.request('/v1/chat/completions', preflight)
  expect(requested.status).toBe(204)
  expect(requested.headers.get('access-control-allow-origin')).toBe(page)
  expect(requested.headers.get('access-control-allow-methods')).toContain('POST')
  expect(requested.headers.get('access-control-allow-headers')).toBe('authorization, x-stainless-os')

  const called = await open.request('/v1/models', { headers: { origin: page } })
  expect(called.status).toBe(200)
  expect(called.headers.get('access-control-allow-origin')).toBe(page)
  expect(called.headers.get('access-control-expose-headers')).toContain('x-request-id')
  expect(called.headers.get('access-control-allow-credentials')).toBeNull()
})

test('a browser may read errors and streams from a configured origin', async () => {
  const refused = await open.request('/v1/models', { headers: { origin: page, authorization: null } })
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, page])
  const body = { model: 'weir/echo', stream: true, messages: [{ role: 'user', content: 'hello' }] }
  const stream = await open.chat(body, { headers: { origin: page } })
  expect(stream.headers.get('access-control-allow-origin')).toBe(page)
  expect(await stream.text()).toEndWith('data: [DONE]\n\n')
})

test.each([
  ['another origin', open, 'https://other.example'],
  ['any origin where the settings name none', closed, page],
])('%s gets no CORS headers', async (_, app, origin) => {
  const called = await app.request('/v1/models', { headers: { origin } })
  expect([called.status, called.headers.get('access-control-allow-origin')]).toEqual([200, null])
  const requested = await app.request('/v1/models', {
    ...preflight,
    headers: { ...preflight.headers, origin },
  })
  expect([requested.status, requested.headers.get('access-control-allow-origin')]).toEqual([405, null])
})
