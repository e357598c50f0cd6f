import { afterAll, expect, test } from 'bun:test'
import { Elysia } from 'elysia'
import { Type } from 'typebox'
import { LargeBodies, maxWaiting, minLargeBody } from '../../src/gateway/rate-limits/large-bodies.ts'
import { callerOf, createLocalLimits } from '../support/local-limits.ts'
import { errorHandler } from '../../src/http/errors.ts'
import { jsonBody } from '../../src/http/json-body.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createValidator } from '../../src/lib/validation/validator.ts'
import { readError } from '../support/chat-reply.ts'
import { organization } from '../unit/gateway/support/organization.ts'

const limits = { requestsPerMinute: 100, tokensPerMinute: 100, concurrentRequests: 100 }
const acme = organization()
const admission = createLocalLimits(() => limits).admit(callerOf(acme), () => {})
const largeBodies = new LargeBodies()
const caller = { organization: acme, hasCredit: true }
const body = createValidator(Type.Object({}))
const app = new Elysia()
  .use(errorHandler(silentLog))
  .use(jsonBody({ maxBody: 2 * minLargeBody, largeBodies }))
  .post('/', async ({ readBody, request }) =>
    Object.keys(await readBody(request, body, { admission, caller })),
  )
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: app.fetch })
afterAll(() => server.stop(true))

test('a large body is a 429 with `retry-after` while the line of its organization is full; a small one is read', async () => {
  const { signal } = new AbortController()
  const first = await largeBodies.enter(acme, signal)
  const waiting = Array.from({ length: maxWaiting }, () => largeBodies.enter(acme, signal))
  const large = JSON.stringify({ text: 'x'.repeat(minLargeBody) })
  const post = (text: string) => fetch(server.url, { method: 'POST', body: text })
  const refused = await post(large)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await readError(refused)).toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
    message: expect.stringContaining('too many large request bodies'),
  })
  // A short text with many values takes as long.
  const dense = JSON.stringify({ values: Array.from({ length: minLargeBody / 8 }, () => 0) })
  expect(dense.length).toBeLessThan(minLargeBody / 2)
  expect((await post(dense)).status).toBe(429)
  expect(await (await post('{"small":1}')).json()).toEqual(['small'])
  const plain = JSON.stringify({ long: 'x'.repeat(minLargeBody / 2) })
  expect(await (await post(plain)).json()).toEqual(['long'])
  first.end()
  for (const entering of waiting) (await entering).end()
  expect(await (await post(large)).json()).toEqual(['text'])
  expect(await (await post(dense)).json()).toEqual(['values'])
})
