import { describe, expect, test } from 'bun:test'
import { cancelledRun, gatedReply, queueRun, waitForRun } from '../../support/background.ts'
import { streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { sharedDatabase } from '../../support/limits.ts'
import { heldBytes, openUnfinishedRequest, waitForHeldBytes, waitForRelease } from '../../support/memory.ts'
import { postResponse, createResponse, retrieveResponse } from '../../support/responses.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { silence } from '../../support/script.ts'

const tooMuch = { status: 503, type: 'service_unavailable_error', code: 'service_unavailable' }
const long = 'x'.repeat(200_000)
const longRequest = { ...chatRequest, messages: [{ role: 'user', content: long }] }

describe('the request slot', () => {
  const settings = { limits: { concurrent_requests: 1 } }

  test('is taken before the body is read: another request is rejected before it has sent its body', async () => {
    await using scenario = await startScenario(jsonReply(), { settings })
    const { app } = scenario
    const first = await openUnfinishedRequest(app, 'content-length: 30000000')
    await waitForHeldBytes(app, (bytes) => bytes === 30_000_000)
    const second = await openUnfinishedRequest(app, 'content-length: 30000000')
    expect(await second.until('rate_limit_exceeded')).toStartWith('HTTP/1.1 429 ')
    expect(await heldBytes(app)).toBe(30_000_000)
    first.reset()
    second.reset()
    await waitForRelease(app)
    expect((await app.chat(chatRequest)).status).toBe(200)
  })

  test('is free again after a request that failed', async () => {
    await using scenario = await startScenario(jsonReply(), { settings })
    const { app } = scenario
    for (const body of ['{', '{}', JSON.stringify({ ...chatRequest, model: 'no/one' })])
      expect((await app.chat({}, { body })).status).toBeWithin(400, 405)
    expect(
      (await app.chat({}, { headers: { 'content-type': 'multipart/form-data' }, body: 'x' })).status,
    ).toBe(415)
    expect((await postResponse(app, { previous_response_id: 'resp_none' })).status).toBe(400)
    expect((await app.chat(chatRequest)).status).toBe(200)
  })

  test('is not held by a background run that waits', async () => {
    await using scenario = await startScenario(silence, { settings })
    const { app, acme } = scenario
    const { id } = await queueRun(app)
    await acme.request(0)
    const waiting = await queueRun(app)
    const long = { input: 'x'.repeat(70_000), background: true }
    expect((await postResponse(app, long)).status).toBe(429)
    expect((await app.chat(chatRequest)).status).toBe(429)
    await cancelledRun(app, id)
    await acme.request(1)
    await cancelledRun(app, waiting.id)
    expect((await postResponse(app, long)).status).toBe(200)
  })
})

describe('the memory budget', () => {
  const settings = { memory: { in_flight: '1MiB' } }

  test('rejects a body that does not fit with 503, and accepts it when there is room again', async () => {
    await using scenario = await startScenario(jsonReply(), { settings })
    const { app } = scenario
    const connection = await openUnfinishedRequest(app, 'content-length: 900000')
    await waitForHeldBytes(app, (bytes) => bytes === 900_000)
    const refused = await app.chat(longRequest)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await readError(refused)).toMatchObject({
      ...tooMuch,
      message: expect.stringContaining('memory limit for open requests is reached'),
    })
    connection.reset()
    await waitForRelease(app)
    expect((await app.chat(longRequest)).status).toBe(200)
    expect(scenario.acme.requests).toHaveLength(1)
  })

  test('rejects a chunked body as soon as it has grown too large', async () => {
    await using scenario = await startScenario(jsonReply(), { settings })
    const { app } = scenario
    const held = await openUnfinishedRequest(app, 'content-length: 900000')
    await waitForHeldBytes(app, (bytes) => bytes === 900_000)
    const size = long.length.toString(16)
    const growing = await openUnfinishedRequest(app, 'transfer-encoding: chunked', `${size}\r\n${long}\r\n`)
    expect(await growing.until('service_unavailable')).toStartWith('HTTP/1.1 503 ')
    held.reset()
    growing.reset()
    await waitForRelease(app)
  })

  test('reserves half of its bytes for other organizations', async () => {
    const { location, keyOf } = await sharedDatabase()
    await using scenario = await startScenario(jsonReply(), { settings, database: location })
    const { app } = scenario
    const other = await keyOf('other')
    const connection = await openUnfinishedRequest(app, 'content-length: 500000')
    await waitForHeldBytes(app, (bytes) => bytes === 500_000)
    expect((await app.chat(longRequest)).status).toBe(503)
    expect((await app.chat(longRequest, { headers: other })).status).toBe(200)
    connection.reset()
    await waitForRelease(app)
  })

  test('counts the conversation that a small request continues, and rejects by the settings', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario([jsonReply(), gatedReply(gate.promise), streamReply()], {
      settings,
    })
    const { app } = scenario
    const { id } = await createResponse(app, { input: long.repeat(2) })
    const first = await postResponse(app, { previous_response_id: id, stream: true })
    expect(await heldBytes(app)).toBeGreaterThan(2 * long.length)
    const refused = await postResponse(app, { previous_response_id: id })
    expect(await readError(refused)).toMatchObject(tooMuch)
    gate.resolve()
    await first.text()
    await waitForRelease(app)
    expect((await postResponse(app, { previous_response_id: id, stream: true })).status).toBe(200)
  })

  test('makes a background run wait for the bytes of its conversation', async () => {
    const gate = Promise.withResolvers<void>()
    const { location, keyOf } = await sharedDatabase()
    const options = { settings: { ...settings, background: { concurrency: 1 } }, database: location }
    await using scenario = await startScenario(
      [jsonReply(), gatedReply(gate.promise), streamReply()],
      options,
    )
    const { app, acme } = scenario
    const { id } = await createResponse(app, { input: long.repeat(2) })
    const ahead = await queueRun(app)
    await acme.request(1)
    const waiting = await queueRun(app, { previous_response_id: id })
    const other = await openUnfinishedRequest(app, 'content-length: 800000', '', await keyOf('other'))
    await waitForHeldBytes(app, (bytes) => bytes >= 800_000)
    gate.resolve()
    expect((await waitForRun(app, ahead.id)).status).toBe('completed')
    while ((await retrieveResponse(app, waiting.id)).status === 'queued');
    expect((await retrieveResponse(app, waiting.id)).status).toBe('in_progress')
    expect(acme.requests).toHaveLength(2)
    other.reset()
    expect((await waitForRun(app, waiting.id)).status).toBe('completed')
    await waitForRelease(app)
  })
})
