import { expect, test } from 'bun:test'
import { startBillingScenario } from '../../support/billing-scenario.ts'
import { readError } from '../../support/chat-reply.ts'
import { heldBytes, waitForOpenCalls, waitForRelease } from '../../support/memory.ts'
import { startScenario } from '../../support/scenario.ts'
import { type Script, silence } from '../../support/script.ts'
import { base64Of, embed, embeddingModel, embeddingReply, embeddingRequest } from '../support/embeddings.ts'

const inputs = 100
const text = base64Of(Array.from({ length: 1536 }, (_, index) => Math.sin(index)))
const many = {
  ...embeddingRequest,
  input: Array.from({ length: inputs }, () => 'a'),
  encoding_format: 'base64',
}
/** More than 800 kB. */
const reply = embeddingReply(Array.from({ length: inputs }, () => text))
const model = { ...embeddingModel, pricing: { input: 1 } }

/**
 * An organization may hold 3.7 MB: four replies, and the bodies of all requests beside them; one reply of which the size is
 * not known. The wait for room is longer than any test.
 */
const shared = { model, settings: { memory: { in_flight: '7400kB' } }, memoryWaitMs: 600_000 }
/** Nothing large fits beside another request. */
const tight = { model, settings: { memory: { in_flight: '1MiB' } } }

test('of replies that do not fit at once, each is delivered, and a provider is asked once for each', async () => {
  await using scenario = await startBillingScenario(reply, shared)
  const { app, acme, billing } = scenario
  const held: number[] = []
  acme.respondWith(replyAfter(async () => void held.push(await heldBytes(app))))
  const replies = await Promise.all(
    Array.from({ length: 16 }, async () => {
      const response = await embed(app, many)
      return { status: response.status, length: (await response.text()).length }
    }),
  )
  for (const { status, length } of replies) {
    expect(status).toBe(200)
    expect(length).toBeGreaterThan(inputs * text.length)
  }
  expect(acme.requests).toHaveLength(16)
  const rows = await billing.waitForUsage(16)
  expect(rows.filter(({ status, cost }) => status === 200 && Number(cost) > 0)).toHaveLength(16)
  await billing.expectConsistent()
  expect(held).toHaveLength(16)
  expect(Math.max(...held)).toBeLessThanOrEqual(3_700_000)
  await waitForRelease(app)
})

test('once a model has replied, the room is as large as its replies: several of them fit', async () => {
  const all = Promise.withResolvers<void>()
  await using scenario = await startScenario([reply, replyAfter(() => all.promise)], shared)
  const { app, acme } = scenario
  expect((await embed(app, many)).status).toBe(200)
  const replies = Array.from({ length: 4 }, () => embed(app, many))
  await acme.request(4)
  all.resolve()
  for (const response of await Promise.all(replies)) expect(response.status).toBe(200)
})

test('without room in time, a request is a 503 before its provider is asked, and costs nothing', async () => {
  await using scenario = await startBillingScenario(silence, { ...tight, memoryWaitMs: 1 })
  const { app, acme, billing } = scenario
  const leaving = new AbortController()
  const first = embed(app, many, leaving.signal)
  await acme.request(0)
  const [balance, reserved] = await billing.account()
  const refused = await embed(app, many)
  expect(await readError(refused)).toMatchObject({ status: 503, code: 'service_unavailable' })
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(acme.requests).toHaveLength(1)
  expect(await billing.account()).toEqual([balance, reserved])
  const row = { status: 503, api: 'embeddings', model: 'acme/river', provider: null, cost: 0 }
  expect(await billing.usageOf(refused.headers.get('x-request-id') ?? '')).toMatchObject(row)
  leaving.abort()
  await first.catch(() => {})
  await waitForRelease(app)
})

test('a client that leaves while its request waits for room gives up its place', async () => {
  const gate = Promise.withResolvers<void>()
  await using scenario = await startScenario([replyAfter(() => gate.promise), reply], shared)
  const { app, acme } = scenario
  const first = embed(app, many)
  await acme.request(0)
  const leaving = new AbortController()
  const left = embed(app, many, leaving.signal)
  await waitForOpenCalls(app, 2)
  leaving.abort()
  await left.catch(() => {})
  await waitForOpenCalls(app, 1)
  const next = embed(app, many)
  gate.resolve()
  expect((await first).status).toBe(200)
  expect((await next).status).toBe(200)
  expect(acme.requests).toHaveLength(2)
  await waitForRelease(app)
})

test('a reply beyond its room is delivered, also where the memory is full', async () => {
  await using scenario = await startScenario([silence, reply], tight)
  const { app, acme } = scenario
  const leaving = new AbortController()
  const first = embed(app, embeddingRequest, leaving.signal)
  await acme.request(0)
  // The provider ignores the dimensions.
  const response = await embed(app, { ...many, dimensions: 8 })
  expect(response.status).toBe(200)
  expect((await response.text()).length).toBeGreaterThan(inputs * text.length)
  expect(acme.requests).toHaveLength(2)
  leaving.abort()
  await first.catch(() => {})
  await waitForRelease(app)
})

/** The reply, once this is done for its request. */
function replyAfter(before: () => Promise<void>): Script {
  return {
    async play(socket, closed) {
      await before()
      return await reply.play(socket, closed)
    },
  }
}
