import { describe, expect, onTestFinished, test } from 'bun:test'
import { Secret } from '../../../src/lib/secret.ts'
import { openBillingDatabase, waitUntil } from '../../support/billing-database.ts'
import { pricing, replyCost } from '../../support/billing-scenario.ts'
import type { BillingMode } from '../../../src/domain/accounting/organization.ts'
import { chatOutput, completionOf, jsonReply } from '../../support/chat-fixtures.ts'
import { openConnection } from '../../support/connection.ts'
import { type Proxy, startProxy } from '../../support/postgres/proxy.ts'
import { hasPostgres, sharedPostgres } from '../../support/postgres/server.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { jsonPieces, type Script } from '../../support/script.ts'

const model = { pricing, max_output_tokens: 100 }
const settings = { limits: { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000 } }

/** The texts of the statements with which a transaction reserves, and with which one settles. */
const reserves = 'INSERT INTO reservations'
const settles = 'INSERT INTO usage ('

/** A gateway that has served a request, behind a proxy of its database. */
async function startGateway(billing: BillingMode, scripts: Script | readonly Script[]) {
  const server = await sharedPostgres()
  const url = await server.createDatabase()
  const proxy = await startProxy(server.port)
  onTestFinished(() => proxy[Symbol.dispose]())
  const scenario = await startScenario(scripts, { database: new Secret(proxy.through(url)), model, settings })
  const database = await openBillingDatabase(new Secret(url))
  onTestFinished(() => database[Symbol.asyncDispose]())
  await database.fund('default', '100', billing)
  let sent = 0
  const isApplied = async () => {
    sent++
    return (
      (await scenario.app.chat(chatRequest)).ok &&
      (billing !== 'prepaid' || (await database.entries()).length > 1)
    )
  }
  await waitUntil(isApplied, 'the billing to apply')
  await waitUntil(async () => (await database.openReservations()) === 0, 'the end of every request')
  // The row of an unmetered request is written after its reply.
  await database.waitForUsage(sent)
  return { scenario, database, proxy }
}

/** A reply that waits, and the round trips that a request has had when it is at its provider, and after its reply. */
async function tripsOf(billing: BillingMode) {
  const gate = Promise.withResolvers<void>()
  const { scenario, proxy, database } = await startGateway(billing, jsonReply())
  await using _ = scenario
  const requests = scenario.acme.requests.length
  scenario.acme.respondWith(jsonPieces([gate.promise, JSON.stringify(completionOf(chatOutput()))]))
  delayed(proxy)
  const trips = proxy.recordRoundTrips()
  const replying = scenario.app.chat(chatRequest)
  await scenario.acme.request(requests)
  const before = [trips(reserves), trips(settles)]
  gate.resolve()
  expect((await replying).status).toBe(200)
  const rows = await database.waitForUsage(1)
  // The row is there before the reply of the server has passed the proxy.
  await waitUntil(() => trips(settles) > 0, 'the end of the settlement')
  return { before, after: [trips(reserves), trips(settles)], all: trips(reserves, settles), rows }
}

/** Replies come later than what is sent together, so that only what waits for them is a round trip of its own. */
function delayed(proxy: Proxy, milliseconds = 30): void {
  proxy.delay(milliseconds)
}

describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
  test('a prepaid request waits for one round trip before it is sent to its provider, and for one after', async () => {
    const { before, after, all } = await tripsOf('prepaid')
    expect({ before, after, all }).toEqual({ before: [1, 0], after: [1, 1], all: 2 })
  })

  test('an unmetered request waits for none before it is sent to its provider', async () => {
    const { before, after, all } = await tripsOf('unmetered')
    expect({ before, after, all }).toEqual({ before: [0, 0], after: [0, 1], all: 1 })
  })

  test('three hundred prepaid requests at once need tens of transactions, and are charged exactly', async () => {
    // Few enough for a busy machine, on which a request waits for two seconds at most.
    const requests = 300
    const { scenario, database, proxy } = await startGateway('prepaid', jsonReply())
    await using _ = scenario
    const [charged] = await database.account()
    // So long that many requests share a transaction however slowly they arrive.
    delayed(proxy, 200)
    const trips = proxy.recordRoundTrips()
    // The gateway sends its own requests by the HTTP client of this process, whose connections are limited.
    const clients = await Promise.all(
      Array.from({ length: requests }, () => openConnection(scenario.app.url)),
    )
    for (const client of clients) client.post(chatRequest)
    const replies = await Promise.all(clients.map((client) => client.until('"usage"')))
    expect(replies.filter((reply) => reply.startsWith('HTTP/1.1 200'))).toHaveLength(requests)
    for (const client of clients) client.reset()
    await database.waitForUsage(requests)
    expect(await database.account()).toEqual([charged - requests * replyCost, 0])
    await database.expectConsistent()
    const transactions = trips(reserves, settles)
    console.log(JSON.stringify({ requests, transactions }))
    expect(transactions).toBeLessThan(60)
  })
})
