import { describe, expect, onTestFinished, test } from 'bun:test'
import { firstChunks, queueRun, waitForOutput, waitForRun } from '../../support/background.ts'
import { type BillingScenario, startBillingScenario } from '../../support/billing-scenario.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame, jsonReply, usage } from '../../support/chat-fixtures.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { after, waitForQueue } from '../../support/provider-queue.ts'
import { hang, silence } from '../../support/script.ts'
import { readEvents, retrieveResponse } from '../../support/responses.ts'
import { chatRequest, type ScenarioOptions } from '../../support/scenario.ts'

const { model, messages } = chatRequest

/** The streams of the APIs. */
const streams = [
  ['a chat completion', '/v1/chat/completions', { ...chatRequest, stream: true }],
  ['a response', '/v1/responses', { model, input: 'Hello', stream: true }],
  ['a message', '/v1/messages', { model, messages, max_tokens: 100, stream: true }],
] as const

/** A provider that begins its answer and never ends it, or does as the script says, and an organization with a key. */
async function startEndless(script = chunks(firstChunks, hang), options: ScenarioOptions = {}) {
  const paid = await startBillingScenario(script, options)
  onTestFinished(() => paid[Symbol.asyncDispose]())
  await paid.billing.fund('acme', '1')
  const expiresAt = null
  const { record, key } = await paid.billing.keys.create({ organization: 'acme', name: 'test', expiresAt })
  return { paid, id: record.id, headers: { authorization: `Bearer ${key.reveal()}` } }
}

/** Reads the stream up to its first words; `rest` resolves with what follows until its end. */
async function openStream(reply: Response) {
  const pieces = readPieces(reply)
  await pieces.until('It is ')
  return { rest: pieces.rest }
}

/** The stream ends with an error and does not look complete; its call is aborted and settled once. */
async function expectEnded(paid: BillingScenario, reply: Response, rest: string, code: string) {
  expect(rest).toMatch(/"error"/)
  expect(rest).not.toMatch(/\[DONE\]|message_stop|response\.completed|"finish_reason":"/)
  expect(await paid.acme.requests[0]?.aborted).toBe(true)
  const id = reply.headers.get('x-request-id') ?? ''
  expect(await paid.billing.usageOf(id)).toMatchObject({ error: code })
  expect(await paid.billing.openReservations()).toBe(0)
  await paid.billing.expectConsistent()
}

describe.each(streams)('the stream of %s', (_, path, body) => {
  test('ends with an error once another process has revoked its key, and is charged', async () => {
    const { paid, id, headers } = await startEndless()
    const reply = await paid.app.request(path, { body, headers })
    const stream = await openStream(reply)
    await paid.billing.keys.revoke(id)
    const rest = await stream.rest()
    expect(rest).toContain('Invalid API key')
    await expectEnded(paid, reply, rest, 'invalid_api_key')
    const [balance] = await paid.billing.account('acme')
    expect(balance).toBeLessThan(1e9)
    expect(balance).toBeGreaterThan(0.99e9)
  })

  test('ends with an error once its organization is deleted', async () => {
    const { paid, headers } = await startEndless()
    const reply = await paid.app.request(path, { body, headers })
    const stream = await openStream(reply)
    await paid.billing.organizations.beginDeletion('acme')
    const rest = await stream.rest()
    expect(rest).toContain('The organization of this API key no longer exists.')
    expect(rest).not.toMatch(/\[DONE\]|message_stop|response\.completed/)
    expect(await paid.acme.requests[0]?.aborted).toBe(true)
  })
})

test.each(streams)(
  'the stream of %s that waited for a slot ends with an error once its key is revoked, too',
  async (_, path, body) => {
    const gate = Promise.withResolvers<void>()
    const { paid, id, headers } = await startEndless(after(gate.promise, jsonReply()), {
      acme: { concurrency: 1, queue: { wait: '60s' } },
      patience: 1,
    })
    const first = paid.app.chat(chatRequest)
    await paid.acme.request(0)
    paid.acme.respondWith(chunks(firstChunks, hang))
    const reply = await paid.app.request(path, { body, headers })
    gate.resolve()
    const stream = await openStream(reply)
    await paid.billing.keys.revoke(id)
    const rest = await stream.rest()
    expect(rest).toContain('Invalid API key')
    expect(rest).not.toMatch(/\[DONE\]|message_stop|response\.completed|"finish_reason":"/)
    await (await first).text()
  },
)

test('a background run that waits for a slot fails once its key is revoked, and the provider is not called', async () => {
  const gate = Promise.withResolvers<void>()
  const { paid, id, headers } = await startEndless(after(gate.promise, jsonReply()), {
    acme: { concurrency: 1 },
  })
  const first = paid.app.chat(chatRequest)
  await paid.acme.request(0)
  const kept = await paid.billing.keys.create({ organization: 'acme', name: 'kept', expiresAt: null })
  const run = await queueRun(paid.app, {}, { headers })
  await waitForQueue(paid.app, 1)
  await paid.billing.keys.revoke(id)
  const ended = await waitForRun(paid.app, run.id, {
    headers: { authorization: `Bearer ${kept.key.reveal()}` },
  })
  expect(ended).toMatchObject({ status: 'failed', error: { code: 'invalid_api_key' } })
  gate.resolve()
  await (await first).text()
  expect(paid.acme.requests).toHaveLength(1)
  await paid.billing.expectConsistent()
})

describe.each([
  ...streams,
  ['a complete chat completion', '/v1/chat/completions', chatRequest],
  ['a complete response', '/v1/responses', { model, input: 'Hello' }],
  ['a complete message', '/v1/messages', { model, messages, max_tokens: 100 }],
] as const)('%s of which the provider has sent nothing', (_, path, body) => {
  test('is a 401 once its key is revoked, and the provider is called no longer', async () => {
    const { paid, id, headers } = await startEndless(silence)
    const requesting = paid.app.request(path, { body, headers })
    await waitUntil(() => paid.acme.requests.length === 1, 'the provider is called')
    await paid.billing.keys.revoke(id)
    const reply = await requesting
    expect(reply.status).toBe(401)
    expect(await reply.text()).toContain('Invalid API key')
    expect(await paid.acme.requests[0]?.aborted).toBe(true)
    expect(await paid.billing.usageOf(reply.headers.get('x-request-id') ?? '')).toMatchObject({ status: 401 })
    expect(await paid.billing.openReservations()).toBe(0)
    await paid.billing.expectConsistent()
  })
})

test('a stream ends with an error when its key expires', async () => {
  const { paid } = await startEndless()
  const expiresAt = Date.now() + 3000
  const { key } = await paid.billing.keys.create({ organization: 'acme', name: 'test', expiresAt })
  const headers = { authorization: `Bearer ${key.reveal()}` }
  const reply = await paid.app.chat({ ...chatRequest, stream: true }, { headers })
  const rest = await (await openStream(reply)).rest()
  expect(Date.now()).toBeGreaterThanOrEqual(expiresAt)
  await expectEnded(paid, reply, rest, 'invalid_api_key')
})

test('a stream goes on while its replaced key has a grace, and while another key is revoked', async () => {
  const gate = Promise.withResolvers<void>()
  const more = [gate.promise, delta({ content: 'four metres.' }), delta({}, 'stop'), { choices: [], usage }]
  await using paid = await startBillingScenario(chunks([...firstChunks, ...more, doneFrame]))
  await paid.billing.fund('acme', '1')
  const create = () => paid.billing.keys.create({ organization: 'acme', name: 'test', expiresAt: null })
  const [replaced, revoked] = [await create(), await create()]
  const openWith = async ({ key }: typeof replaced) => {
    const headers = { authorization: `Bearer ${key.reveal()}` }
    return await openStream(await paid.app.chat({ ...chatRequest, stream: true }, { headers }))
  }
  const [staying, ending] = [await openWith(replaced), await openWith(revoked)]
  await paid.billing.keys.rotate(replaced.record.id, 60_000)
  await paid.billing.keys.revoke(revoked.record.id)
  // By then the other key has been looked up as well.
  expect(await ending.rest()).toContain('Invalid API key')
  gate.resolve()
  expect(await staying.rest()).toEndWith(doneFrame)
})

test('a reader of a background run ends with an error event once its key is revoked, and the run goes on', async () => {
  const gate = Promise.withResolvers<void>()
  const more = [gate.promise, delta({ content: 'four metres.' }), delta({}, 'stop'), { choices: [], usage }]
  await using paid = await startBillingScenario(chunks([...firstChunks, ...more, doneFrame]))
  const { app, billing } = paid
  const create = () => billing.keys.create({ organization: 'default', name: 'test', expiresAt: null })
  const { record, key } = await create()
  const { id } = await queueRun(app)
  await waitForOutput(app, id, 'It is ')
  const headers = { authorization: `Bearer ${key.reveal()}` }
  const following = app.request(`/v1/responses/${id}?stream=true`, { headers })
  const events = readEvents(await following)
  await billing.keys.revoke(record.id)
  const { types, events: received } = await events
  expect(types.at(-1)).toBe('error')
  expect(types).not.toContain('response.failed')
  const sequence = (received.at(-2)?.sequence_number ?? Number.NaN) + 1
  expect(received.at(-1)).toMatchObject({ code: 'invalid_api_key', sequence_number: sequence })
  expect((await retrieveResponse(app, id)).status).toBe('in_progress')
  gate.resolve()
  const all = await readEvents(await app.request(`/v1/responses/${id}?stream=true`))
  expect(all.last?.status).toBe('completed')
})
