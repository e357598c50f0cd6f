import { expect, test } from 'bun:test'
import { waitUntil } from '../support/billing-database.ts'
import { startBillingScenario } from '../support/billing-scenario.ts'
import { readPieces } from '../support/body-reader.ts'
import { chunks, delta, jsonReply } from '../support/chat-fixtures.ts'
import { readError } from '../support/chat-reply.ts'
import { testsUsePostgres } from '../support/postgres/server.ts'
import { chatRequest } from '../support/scenario.ts'
import { hang } from '../support/script.ts'

// What the tests beside this one ask with short times is asked here with those that a server has.

test('the usage of a client that has disconnected is awaited for five seconds', async () => {
  const output = [delta({ role: 'assistant', content: 'It is ' }), delta({ content: 'four.' }, 'stop')]
  await using paid = await startBillingScenario(chunks(output, hang))
  const reader = readPieces(await paid.app.chat({ ...chatRequest, stream: true }))
  await reader.until('four.')
  await reader.leave()
  expect(await paid.acme.requests[0]!.aborted).toBe(true)
  const [row] = await paid.billing.waitForUsage(1)
  expect(row).toMatchObject({ status: 499, estimated: 1 })
  expect(row?.latency_ms).toBeWithin(5000, 20_000)
})

test.skipIf(testsUsePostgres)('a write waits a second for a database that is locked', async () => {
  await using paid = await startBillingScenario(jsonReply())
  {
    await using _lock = await paid.billing.lock()
    expect(await readError(await paid.app.chat(chatRequest))).toMatchObject({ status: 503 })
  }
  const [row] = await paid.billing.waitForUsage(1)
  expect(row?.latency_ms).toBeWithin(1000, 10_000)
})

test('a key that another process revokes, and a limit that it changes, take effect within a second', async () => {
  await using paid = await startBillingScenario(jsonReply())
  await paid.billing.fund('acme', '1')
  const key = await paid.billing.keyOf('acme')
  const list = () => paid.app.request('/v1/models', { headers: { authorization: `Bearer ${key}` } })
  const limit = async () => (await list()).headers.get('x-ratelimit-limit-requests')
  expect(await limit()).toBe('6000')
  await paid.billing.organizations.change('acme', { requestsPerMinute: 7777 })
  await waitUntil(async () => (await limit()) === '7777', 'the changed limit', 2000)
  await paid.billing.keys.revoke(key.split('-')[2] ?? '')
  await waitUntil(async () => (await list()).status === 401, 'the revoked key', 2000)
})
