import { afterAll, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { callerOf, createLocalLimits } from '../../support/local-limits.ts'
import { errorHandler } from '../../../src/http/errors.ts'
import { jsonBody } from '../../../src/http/json-body.ts'
import { createValidator } from '../../../src/lib/validation/validator.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { organization } from '../../unit/gateway/support/organization.ts'
import { openConnection } from '../../support/connection.ts'

const limits = { requestsPerMinute: 100, tokensPerMinute: 100, concurrentRequests: 100 }
const admission = createLocalLimits(() => limits).admit(callerOf(organization()), () => {})
const app = new Elysia()
  .use(errorHandler(silentLog))
  .use(jsonBody({ maxBody: 1000, timeoutMs: 500 }))
  .post('/', ({ readBody, request }) => readBody(request, createValidator(Type.Object({})), { admission }))
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch })
afterAll(() => server.stop(true))

test.each([
  ['of a known length', 'content-length: 100\r\n\r\n{"half":'],
  ['in pieces', 'transfer-encoding: chunked\r\n\r\n8\r\n{"half":\r\n'],
])('a body %s that never ends is a 408, and closes the connection', async (_, rest) => {
  const connection = await openConnection(server.url.href)
  connection.write(`POST / HTTP/1.1\r\nhost: localhost\r\n${rest}`)
  const reply = await connection.until('request_timeout')
  expect(reply).toStartWith('HTTP/1.1 408 ')
  expect(reply.toLowerCase()).toContain('connection: close')
})

test('a body that arrives completely before the deadline is accepted', async () => {
  const reply = await fetch(server.url, { method: 'POST', body: '{"whole":1}' })
  expect(await reply.json()).toEqual({ whole: 1 })
})
