import { expect, test } from 'bun:test'
import type { LiveEvent } from '../../../src/observability/live-event.ts'
import { createLiveRequests } from '../../../src/observability/live-requests.ts'
import { RequestRecord } from '../../../src/observability/request-record.ts'
import type { App } from '../../support/app.ts'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, doneFrame, jsonReply, usage } from '../../support/chat-fixtures.ts'
import { after } from '../../support/provider-queue.ts'
import { chatRequest, providerKey } from '../../support/scenario.ts'
import { json } from '../../support/script.ts'
import { requestOf } from '../../unit/storage/support/ledger-fixture.ts'
import { adminKey, requestAdmin, startAdmin } from '../support/admin.ts'

const liveHeaders = { authorization: `Bearer ${adminKey}`, accept: 'text/event-stream' }

/** Reads the stream of live requests; `until` resolves when it contains this text, with all of it. */
async function readLive(app: App) {
  const reply = await app.request('/admin/requests', { headers: liveHeaders })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  const pieces = readPieces(reply)
  let text = ''
  return {
    async until(part: string): Promise<string> {
      while (!text.includes(part)) {
        const piece = await pieces.next()
        if (piece === undefined) throw new Error(`“${part}” never came: ${text}`)
        text += piece
      }
      return text
    },
    leave: () => pieces.leave(),
  }
}

function eventsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  return [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, type, data]) => ({
    type,
    ...JSON.parse(data!),
  }))
}

test('a request that waits for a slot is queued until it has one, also for a reader who comes later', async () => {
  const gate = Promise.withResolvers<void>()
  const acme = { concurrency: 1 }
  await using scenario = await startAdmin([after(gate.promise, jsonReply()), jsonReply()], { acme })
  const { app } = scenario
  const live = await readLive(app)
  const first = app.chat(chatRequest)
  await scenario.acme.request(0)
  const second = app.chat(chatRequest)
  await live.until('event: queued')
  const late = await readLive(app)
  const [queued] = eventsIn(await late.until('event: queued')).filter(({ type }) => type === 'queued')
  const { body } = await requestAdmin(app, 'GET', 'providers')
  expect(body.data).toMatchObject([
    { id: 'acme', slots: { concurrency: 1, in_use: 1, waiting: 1 } },
    { slots: null },
  ])
  gate.resolve()
  const request = (await second).headers.get('x-request-id')
  expect(queued).toMatchObject({ request, provider: 'acme', model: 'acme/river' })
  const id = `"request":"${request}"`
  const own = eventsIn(await live.until(`event: end\ndata: {${id}`)).filter(
    (event) => event.request === request,
  )
  expect(own.map(({ type }) => type)).toEqual(['start', 'queued', 'dequeued', 'first_token', 'end'])
  await Promise.all([(await first).text(), late.leave(), live.leave()])
})

test('a request to a model has a start, a first token and an end with tokens and cost, and nothing of its prompt', async () => {
  const gate = Promise.withResolvers<void>()
  await using paid = await startAdmin(
    chunks([delta({ content: 'swordfish' }), gate.promise, delta({}, 'stop'), usage, doneFrame]),
  )
  const live = await readLive(paid.app)
  const reply = await paid.app.chat({ ...chatRequest, stream: true, user: 'zuse', tags: ['red'] })
  const early = eventsIn(await live.until('first_token'))
  expect(early.map(({ type }) => type)).toEqual(['start', 'first_token'])
  const late = await readLive(paid.app)
  const request = early[0]?.request
  expect(eventsIn(await late.until('event: first_token'))).toMatchObject([
    { type: 'start', request },
    { type: 'first_token', request, provider: 'acme', elapsed_ms: early[1]?.elapsed_ms },
  ])
  gate.resolve()
  await reply.text()
  const text = await live.until('event: end')
  const [start, first, end] = eventsIn(text)
  const common = {
    request: reply.headers.get('x-request-id'),
    time: expect.stringMatching(/Z$/),
    organization: expect.stringMatching(/^org_/),
    key: 'Test00000000',
    api: 'chat',
    model: 'acme/river',
  }
  expect(start).toEqual({
    type: 'start',
    ...common,
    elapsed_ms: expect.any(Number),
    stream: true,
    background: false,
  })
  expect(first).toEqual({ type: 'first_token', ...common, provider: 'acme', elapsed_ms: expect.any(Number) })
  expect(end).toMatchObject({
    type: 'end',
    ...common,
    provider: 'acme',
    status: 200,
    error: null,
    input_tokens: 8,
    output_tokens: 3,
    cost_usd: '0.000038',
  })
  for (const secret of ['swordfish', 'How high', 'zuse', 'red"', providerKey])
    expect(text).not.toContain(secret)
  await live.leave()
  await late.leave()
})

test('a rejected request has an end with its error, and no model name that the client made up', async () => {
  await using paid = await startAdmin()
  const live = await readLive(paid.app)
  await paid.app.chat({ ...chatRequest, model: 'my/secret-model' })
  const text = await live.until('event: end')
  expect(eventsIn(text)).toMatchObject([
    { type: 'end', status: 404, error: 'model_not_found', model: null, cost_usd: null },
  ])
  expect(text).not.toContain('secret-model')
  await live.leave()
})

test('the stream of live requests ends when the gateway shuts down, and cannot be opened again', async () => {
  await using paid = await startAdmin()
  const reply = await paid.app.request('/admin/requests', {
    headers: liveHeaders,
  })
  paid.app.runtime.drain()
  expect((await reply.text()).replaceAll(': keep-alive\n\n', '')).toBe('')
  const again = await paid.app.request('/admin/requests', { headers: liveHeaders })
  expect(again.status).toBe(503)
  expect(await again.text()).toContain('The gateway is shutting down.')
})

test('more than 16 readers at once are rejected with 503, and a place is free when one leaves', async () => {
  await using paid = await startAdmin()
  const readers = []
  for (let index = 0; index < 16; index++) readers.push(await readLive(paid.app))
  const rejected = await paid.app.request('/admin/requests', { headers: liveHeaders })
  expect(rejected.status).toBe(503)
  await readers[0]!.leave()
  let status = 503
  while (status === 503) {
    const reply = await paid.app.request('/admin/requests', {
      headers: liveHeaders,
    })
    status = reply.status
    await reply.body?.cancel()
  }
  for (const reader of readers.slice(1)) await reader.leave()
})

test('a reader that reads too slowly misses events, receives their number, and continues', async () => {
  const live = createLiveRequests()
  const stream = live.subscribe([])
  const records = Array.from({ length: 1500 }, () => new RequestRecord('req_1', 'POST', live as never))
  const received: LiveEvent[] = []
  const gate = Promise.withResolvers<void>()
  const reading = stream.forEach((event) => {
    received.push(event)
    return received.length === 1 ? gate.promise : undefined
  })
  for (const record of records.slice(0, 1)) record.callStarted(requestOf('org_1'))
  await Promise.resolve()
  for (const record of records.slice(1)) record.callStarted(requestOf('org_1'))
  gate.resolve()
  await new Promise((resolve) => setImmediate(resolve))
  expect(received.length).toBe(1002)
  expect(received.at(-1)).toEqual({ type: 'dropped', events: 499 })
  records[0]!.callStarted(requestOf('org_1'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(received.at(-1)).toMatchObject({ type: 'start' })
  live.close()
  await reading
})

test('readers of other processes collect the events since the last time, and take no place of the readers here', async () => {
  const live = createLiveRequests()
  const record = new RequestRecord('req_1', 'POST', live as never)
  record.callStarted(requestOf('org_1'))
  const ids = Array.from({ length: 20 }, (_, index) => `reader${index}`)
  const collect = () => ids.map((id) => live.collect(id, [record]).map(({ type }) => type))
  expect(collect()).toEqual(ids.map(() => ['start']))
  new RequestRecord('req_2', 'POST', live as never).callStarted(requestOf('org_1'))
  expect(collect()).toEqual(ids.map(() => ['start']))
  expect(collect()).toEqual(ids.map(() => []))
  expect(() => live.subscribe([])).not.toThrow()
  live.close()
})

test('the list of providers has their routes, circuits, models and last errors, without keys', async () => {
  await using paid = await startAdmin(
    [jsonReply(), json({ error: { message: `Broken: ${providerKey}` } }, { status: 500 })],
    {
      settings: { breaker: { failures: 1 } },
      other: [jsonReply()],
    },
  )
  const providerOf = async (id: string) => {
    const { body } = await requestAdmin(paid.app, 'GET', 'providers')
    expect(JSON.stringify(body)).not.toContain(providerKey)
    return (body.data as readonly Readonly<Record<string, unknown>>[]).find((provider) => provider.id === id)
  }
  expect(await providerOf('acme')).toMatchObject({
    health: 'unknown',
    has_key: true,
    kind: 'openai-compatible',
    base_url: paid.acme.url,
  })
  await paid.app.chat(chatRequest)
  expect(await providerOf('acme')).toMatchObject({ health: 'ok' })
  const reply = await paid.app.chat(chatRequest)
  expect(await providerOf('acme')).toMatchObject({
    health: 'failing',
    discovered_models: [],
    routes: [
      {
        model: 'acme/river',
        enabled: true,
        upstream_model: 'river-1',
        circuit: 'partly_open',
        requests: 2,
        failures: 1,
        last_success_at: expect.stringMatching(/Z$/),
        last_error: { status: 502, code: 'upstream_unavailable', request: reply.headers.get('x-request-id') },
      },
    ],
  })
  expect(await providerOf('other')).toMatchObject({
    health: 'ok',
    routes: [{ circuit: 'closed', requests: 1, failures: 0 }],
  })
})
