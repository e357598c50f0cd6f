import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { firstKey } from '../../support/app.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { chatRequest } from '../../support/scenario.ts'

const refused = { api: 'chat', model: null, key_id: firstKey.split('-')[2] ?? '', cost: null, provider: null }

test.each([
  ['of the wrong type', { ...chatRequest, temperature: 'hot' }, 400, 'invalid_type'],
  ['that is no JSON', '{', 400, 'invalid_request_error'],
  ['that is too large', 'x'.repeat(2000), 413, 'request_too_large'],
])('a body %s has the usage row of a failed request', async (_, body, status, error) => {
  await using paid = await startBillingScenario(jsonReply(), { settings: { max_body: 1000 } })
  const reply = await paid.app.chat(body as object)
  expect(reply.status).toBe(status)
  const rows = await paid.billing.waitForUsage(1)
  expect(rows).toEqual([
    expect.objectContaining({
      ...refused,
      id: reply.headers.get('x-request-id'),
      status,
      error,
      prompt_tokens: 0,
    }),
  ])
})

test('an unauthenticated or rate-limited request has no usage row', async () => {
  const limits = { requests_per_minute: 2 }
  await using paid = await startBillingScenario(jsonReply(), { settings: { limits }, clock: () => 0 })
  expect((await paid.app.chat(chatRequest, { headers: { authorization: null } })).status).toBe(401)
  await (await paid.app.chat(chatRequest)).text()
  expect((await paid.app.request('/v1/models/none/such')).status).toBe(404)
  expect((await paid.app.chat(chatRequest)).status).toBe(429)
  expect((await paid.billing.waitForUsage(1)).map(({ status }) => status)).toEqual([200])
})

test('an invalid query for stored completions has no usage row', async () => {
  await using paid = await startBillingScenario(jsonReply())
  expect((await paid.app.request('/v1/chat/completions?limit=0')).status).toBe(400)
  await paid.app.chat(chatRequest)
  expect((await paid.billing.waitForUsage(1)).map(({ status }) => status)).toEqual([200])
})
