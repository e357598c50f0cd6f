import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { withTimeout } from '../../../src/lib/time.ts'
import { callerTimeoutMs } from '../../../src/storage/ports/health.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { pricing, replyCost } from '../../support/billing-scenario.ts'
import { chatOutput, completionOf, jsonReply } from '../../support/chat-fixtures.ts'
import { readCompletion, readError } from '../../support/chat-reply.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { postResponse } from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { jsonPieces } from '../../support/script.ts'

/** For a reply that comes after `callerTimeoutMs`, on a busy machine; a statement alone takes five seconds to fail. */
const deadlineMs = 2 * callerTimeoutMs
const start = 1_000_000_000

/** A gateway that has charged a request of a prepaid organization, on a server that can stop to answer. */
async function startGateway() {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const proxy = await startProxy(server.port)
  const database = new Secret(proxy.through(url))
  const production = { database, databaseTimeoutMs: undefined }
  const scenario = await startScenario(jsonReply(), {
    ...production,
    model: { pricing, max_output_tokens: 100 },
  })
  onTestFinished(async () => {
    await scenario[Symbol.asyncDispose]()
    proxy[Symbol.dispose]()
  })
  const { app } = scenario
  await execute(url, `UPDATE organizations SET billing = 'prepaid', balance = ${start}`)
  const charges = async () =>
    (await execute<{ amount: string }>(url, "SELECT amount FROM ledger WHERE kind = 'charge'")).map(
      ({ amount }) => Number(amount),
    )
  await waitUntil(async () => {
    await (await app.chat(chatRequest)).text()
    return (await charges()).length > 0
  }, 'a request that is charged')
  return {
    scenario,
    url,
    charges,
    /** From now on, nothing that the server sends arrives. */
    freeze: () => proxy.delay(3_600_000),
    async thaw(): Promise<void> {
      proxy.delay(0)
      proxy.cut()
      await waitUntil(async () => (await app.request('/readyz')).ok, 'the database is available')
      const released = async () =>
        (await execute<{ reserved: string }>(url, 'SELECT reserved FROM organizations'))[0]?.reserved === '0'
      await waitUntil(released, 'no reservation')
    },
  }
}

function inTime<Value>(promise: Promise<Value>, timeoutMs = deadlineMs): Promise<Value> {
  return withTimeout(promise, timeoutMs, () => new Error(`There was no reply within ${timeoutMs} ms.`))
}

describe.skipIf(!hasPostgres)('a gateway whose PostgreSQL does not answer', () => {
  test.each([
    ['while keys are cached', 0],
    ['when keys have to be read', 1500],
    ['when the outage is known', 5000],
  ])(
    'rejects requests in time %s, calls no provider, and keeps no reservation',
    async (_, pauseMs) => {
      const { scenario, url, freeze, thaw } = await startGateway()
      const { app, acme } = scenario
      const sent = acme.requests.length
      freeze()
      await Bun.sleep(pauseMs)
      const replies = await Promise.all(Array.from({ length: 5 }, () => inTime(app.chat(chatRequest))))
      for (const reply of replies) {
        expect(reply.headers.get('retry-after')).toBe('1')
        expect(await readError(reply)).toMatchObject({ status: 503, code: 'service_unavailable' })
      }
      expect(acme.requests).toHaveLength(sent)
      await thaw()
      // A busy server may be too slow for the timeouts once more.
      await waitUntil(async () => (await app.chat(chatRequest)).ok, 'requests are served again')
      expect(await execute(url, 'SELECT FROM usage WHERE status = 503 AND cost > 0')).toEqual([])
    },
    120_000,
  )

  test('sends a response that ends meanwhile, and an error for one that is to be stored, and charges both once', async () => {
    const gate = Promise.withResolvers<void>()
    const { scenario, charges, freeze, thaw } = await startGateway()
    const { app, acme } = scenario
    const [sent, charged] = [acme.requests.length, (await charges()).length]
    acme.respondWith(jsonPieces([gate.promise, JSON.stringify(completionOf(chatOutput()))]))
    const [chat, response] = [app.chat(chatRequest), postResponse(app)]
    await acme.request(sent + 1)
    freeze()
    gate.resolve()
    expect((await readCompletion(await inTime(chat))).choices[0]?.message.content).toBe('It is four metres.')
    const unstored = await inTime(response, 5 * deadlineMs)
    expect(unstored.headers.get('x-should-retry')).toBe('false')
    expect(await readError(unstored)).toMatchObject({ status: 503, code: 'response_not_stored' })
    await thaw()
    expect((await charges()).slice(charged)).toEqual([-replyCost, -replyCost])
    expect(acme.requests).toHaveLength(sent + 2)
  }, 120_000)
})
