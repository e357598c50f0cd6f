import { describe, expect, test } from 'bun:test'
import { readPieces } from '../../support/body-reader.ts'
import { chunks, delta, framesOf, chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { joinChunks, readError, readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { events, hang, jsonPieces, silence } from '../../support/script.ts'

const streamRequest = { ...chatRequest, stream: true }
/** Longer than a slow machine takes to connect and to send the request. */
const firstByte = { timeouts: { first_byte: '1s' } }
const idle = { timeouts: { idle: '50ms' } }
const first = delta({ role: 'assistant', content: 'It ' })

describe('a provider that exceeds its timeout', () => {
  test.concurrent.each([
    ['takes the request and stays silent', silence, chatRequest],
    ['sends its headers and no body', jsonPieces([], hang), chatRequest],
    ['sends half of its answer', jsonPieces(['{"choices":'], hang), chatRequest],
    ['takes the request and stays silent', silence, streamRequest],
    ['sends the headers of a stream and no event', events([], hang), streamRequest],
    ['sends comments and no event', events([': hello\n\n', ': hello\n\n'], hang), streamRequest],
    ['sends a role and no word', chunks([delta({ role: 'assistant', content: '' })], hang), streamRequest],
  ])('is a 502 and its call is aborted: it %s', async (_, script, body) => {
    await using scenario = await startScenario(script, { provider: firstByte })
    expect(await readError(await scenario.app.chat(body))).toMatchObject({
      status: 502,
      type: 'server_error',
      code: 'upstream_timeout',
    })
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    expect(scenario.acme.requests).toHaveLength(1)
  })

  test('is not retried, but the next route is called', async () => {
    const settings = { retries: { attempts: 2 } }
    await using scenario = await startScenario(silence, {
      settings,
      acme: firstByte,
      other: [jsonReply()],
    })
    expect(await (await scenario.app.chat(chatRequest)).json()).toMatchObject({ provider: 'other' })
    expect(scenario.acme.requests).toHaveLength(1)
  })

  test('in the middle of a stream ends that stream with an error', async () => {
    await using scenario = await startScenario(chunks([first], hang), { provider: idle })
    const reply = await readStreamed(await scenario.app.chat(streamRequest))
    expect(reply.error).toMatchObject({ code: 'upstream_timeout' })
    expect([reply.status, reply.done, joinChunks(reply.chunks)[0]?.text]).toEqual([200, false, 'It '])
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
  })

  test('keeps its stream while events arrive, although the stream lasts longer than the idle timeout', async () => {
    const frames = framesOf(chatOutput({ text: [...'abcdefgh'] }))
    const paced = events(frames.flatMap((frame, index) => [Bun.sleep(120 * index), frame]))
    await using scenario = await startScenario(paced, { provider: { timeouts: { idle: '800ms' } } })
    const reply = await readStreamed(await scenario.app.chat(streamRequest))
    expect([joinChunks(reply.chunks)[0]?.text, reply.done]).toEqual(['abcdefgh', true])
  })

  test('has the full first-event timeout, whatever the idle timeout', async () => {
    const gate = Promise.withResolvers<void>()
    // Far more than a busy machine needs between two frames.
    const provider = { timeouts: { idle: '1s' } }
    await using scenario = await startScenario(events([gate.promise, ...framesOf(chatOutput())]), {
      provider,
    })
    const reply = scenario.app.chat(streamRequest)
    await scenario.acme.request(0)
    setTimeout(gate.resolve, 1200)
    expect((await readStreamed(await reply)).done).toBe(true)
  })
})

test('a host that accepts no connection is a 502 long before the operating system times out', async () => {
  // An address that is reserved for examples: no host answers, or the network says so at once.
  const acme = { base_url: 'http://192.0.2.1:81/v1', timeouts: { connect: '200ms' } }
  await using scenario = await startScenario([], { acme })
  expect(await readError(await scenario.app.chat(chatRequest))).toMatchObject({
    status: 502,
    code: expect.stringMatching(/^upstream_(timeout|unavailable)$/),
  })
})

describe('a provider that accepts a stream and then reasons for a long time', () => {
  const providerReply = framesOf(chatOutput())

  test('gets a comment sent at the start of its stream, and its output follows', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startScenario(events([gate.promise, ...providerReply]), { patience: 20 })
    const response = await scenario.app.chat(streamRequest)
    const reader = readPieces(response)
    expect([response.status, await reader.next()]).toEqual([200, ': keep-alive\n\n'])
    gate.resolve()
    expect(await reader.rest()).toEndWith('data: [DONE]\n\n')
  })

  test('reports a late failure in the stream, without failover', async () => {
    const gate = Promise.withResolvers<void>()
    const failing = events([gate.promise, 'data: {"error":{"message":"No."}}\n\n'])
    await using scenario = await startScenario(failing, { patience: 20, other: [jsonReply()] })
    const response = await scenario.app.chat(streamRequest)
    gate.resolve()
    const reply = await readStreamed(response)
    expect(reply).toMatchObject({ status: 200, done: false, error: { code: 'upstream_unavailable' } })
    expect(scenario.other.requests).toEqual([])
  })

  test('is still subject to its timeout', async () => {
    // So much longer than the patience that a busy machine does not reverse their order.
    const provider = { timeouts: { first_byte: '1s' } }
    await using scenario = await startScenario(events([], hang), { patience: 20, provider })
    const reply = await readStreamed(await scenario.app.chat(streamRequest))
    expect(reply).toMatchObject({ status: 200, done: false, error: { code: 'upstream_timeout' } })
    expect(await scenario.acme.requests[0]?.aborted).toBe(true)
  })

  test('is awaited where no stream was requested', async () => {
    const late = jsonPieces([Bun.sleep(80), JSON.stringify({ error: { message: 'No.' } })])
    await using scenario = await startScenario(late, { patience: 20, other: [jsonReply()] })
    expect(await (await scenario.app.chat(chatRequest)).json()).toMatchObject({ provider: 'other' })
  })
})
