import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion } from '../../support/chat-reply.ts'
import { chatRequest } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'

const failed = json({ error: { message: 'The model crashed.' } }, { status: 500 })

/** A gateway with two organizations and two providers; `ask` says who has answered. */
async function startShared() {
  const settings = { retries: { attempts: 0 }, breaker: { failures: 2 } }
  const paid = await startBillingScenario(failed, { settings, other: [jsonReply()], clock: () => 0 })
  await paid.billing.fund('hostile', '1')
  const hostile = { authorization: `Bearer ${await paid.billing.keyOf('hostile')}` }
  const ask = async (headers = {}) => {
    return (await readCompletion(await paid.app.chat(chatRequest, { headers }))).provider
  }
  return { paid, ask, provoke: () => ask(hostile), [Symbol.asyncDispose]: paid[Symbol.asyncDispose] }
}

test('an organization that provokes failures of a route opens the circuit breaker for itself alone', async () => {
  await using shared = await startShared()
  const { paid, ask, provoke } = shared
  for (let call = 0; call < 5; call++) expect(await provoke()).toBe('other')
  expect(paid.acme.requests).toHaveLength(2)
  paid.acme.respondWith(jsonReply())
  expect([await ask(), await ask()]).toEqual(['acme', 'acme'])
})

test('a route that fails for several organizations is skipped for all of them', async () => {
  await using shared = await startShared()
  const { paid, ask, provoke } = shared
  await paid.billing.fund('third', '1')
  const third = { authorization: `Bearer ${await paid.billing.keyOf('third')}` }
  expect([await provoke(), await ask()]).toEqual(['other', 'other'])
  paid.acme.respondWith(jsonReply())
  expect(await ask(third)).toBe('other')
  expect(paid.acme.requests).toHaveLength(2)
})

test('a route that only one organization uses is skipped after its failures', async () => {
  await using shared = await startShared()
  const { paid, ask } = shared
  for (let call = 0; call < 5; call++) expect(await ask()).toBe('other')
  expect(paid.acme.requests).toHaveLength(2)
})
