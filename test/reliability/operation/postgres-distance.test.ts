import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { chatOutput, completionOf, jsonReply } from '../../support/chat-fixtures.ts'
import { openConnection } from '../../support/connection.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { execute, hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { jsonPieces } from '../../support/script.ts'

/** So small that hardly anything may be leased in advance. */
const limits = { requests_per_minute: 600, tokens_per_minute: 200_000, concurrent_requests: 100 }

/** The statement with which a renewal of rate limits ends; its answer is what requests wait for. */
const writesBuckets = 'UPDATE rate_limit_buckets'

/** A gateway with small limits that holds none of them, and the proxy before its database. */
async function startIdleGateway() {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const proxy = await startProxy(server.port)
  onTestFinished(() => proxy[Symbol.dispose]())
  const database = new Secret(proxy.through(url))
  const scenario = await startScenario(jsonReply(), { database, settings: { limits } })
  expect((await scenario.app.chat(chatRequest)).status).toBe(200)
  const isIdle = async () => (await execute(url, 'SELECT FROM slot_leases')).length === 0
  await waitUntil(isIdle, 'no slots are leased')
  return { scenario, proxy }
}

describe.skipIf(!hasPostgres)('at a distance from PostgreSQL', () => {
  test.each([1, 20])(
    '%d requests that come at once after a pause share one or two renewals of rate limits',
    async (count) => {
      const { scenario, proxy } = await startIdleGateway()
      await using _ = scenario
      const gate = Promise.withResolvers<void>()
      const reply = [gate.promise, JSON.stringify(completionOf(chatOutput()))]
      scenario.acme.respondWith(jsonPieces(reply))
      const clients = await Promise.all(Array.from({ length: count }, () => openConnection(scenario.app.url)))
      const before = scenario.acme.requests.length
      proxy.delay(200)
      const trips = proxy.recordRoundTrips()
      for (const client of clients) client.post(chatRequest)
      await scenario.acme.request(before + count - 1)
      // A request, its slot and its tokens come with one renewal; those that miss it come with the next. A third one may
      // have begun by now, which leases more for later requests.
      expect(trips(writesBuckets)).toBeWithin(1, 3)
      gate.resolve()
      for (const client of clients) expect(await client.until('"usage"')).toStartWith('HTTP/1.1 200')
      for (const client of clients) client.reset()
    },
  )
})
