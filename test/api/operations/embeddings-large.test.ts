import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'bun:test'
import { readError } from '../../support/chat-reply.ts'
import type { Json } from '../../../src/lib/json/json.ts'
import type { App } from '../../support/app.ts'
import { heldBytes, waitForHeldBytes, waitForOpenCalls, waitForRelease } from '../../support/memory.ts'
import { startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'
import {
  base64Of,
  embed,
  embeddingModel as model,
  embeddingReply,
  embeddingRequest,
  embeddingsOf,
} from '../support/embeddings.ts'

const count = 2048
const numbers = Array.from({ length: 1536 }, (_, index) => Math.sin(index))
const text = base64Of(numbers)
const many = { ...embeddingRequest, input: Array.from({ length: count }, () => 'a') }

describe('2,048 embeddings of 1,536 numbers', () => {
  test.each([
    ['base64', text],
    ['float', Array.from(new Float32Array(numbers))],
  ])('are returned complete as %s, while other requests are served', async (format, expected) => {
    const reply = embeddingReply(Array.from({ length: count }, () => text))
    await using scenario = await startScenario(reply, { model })
    const progress = { done: false }
    const embedded = embeddingsOf(scenario.app, { ...many, encoding_format: format }).finally(
      () => (progress.done = true),
    )
    let served = 0
    while (!progress.done) served += (await scenario.app.request('/livez')).status === 200 ? 1 : 0
    expect(served).toBeGreaterThan(5)
    const { data } = await embedded
    expect(data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index))
    expect<unknown>(data.at(-1)?.embedding).toEqual(expected)
    await waitForRelease(scenario.app)
  })

  test.each([
    ['base64', text],
    ['float', numbers],
  ])('are returned complete as %s where the provider sends numbers', async (format, expected) => {
    const reply = embeddingReply(Array.from({ length: count }, () => numbers))
    await using scenario = await startScenario(reply, { model })
    const { data } = await embeddingsOf(scenario.app, { ...many, encoding_format: format })
    expect(data.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, index) => index))
    expect(data.every(({ embedding }) => Bun.deepEquals(embedding, expected))).toBe(true)
    await waitForRelease(scenario.app)
  })

  test.each<[string, readonly Json[]]>([
    ['one too many', Array.from({ length: count + 1 }, () => numbers)],
    ['one without a number', [...Array.from({ length: count - 1 }, () => numbers), [1, null]]],
    ['a nested one', [...Array.from({ length: count - 1 }, () => numbers), [[1], [2]]]],
  ])('are a 502 with %s', async (_, embeddings) => {
    await using scenario = await startScenario(embeddingReply(embeddings), { model })
    expect((await embed(scenario.app, many)).status).toBe(502)
    await waitForRelease(scenario.app)
  })

  test('hold memory until the client has read them', async () => {
    const reply = embeddingReply(Array.from({ length: count }, () => text))
    await using scenario = await startScenario(reply, { model })
    const { app } = scenario
    const socket = await openStalledRequest(app, { ...many, encoding_format: 'base64' })
    await waitForHeldBytes(app, (bytes) => bytes > count * text.length)
    // The call has ended, and the reply still holds its bytes.
    await waitForOpenCalls(app, 0)
    expect(await heldBytes(app)).toBeGreaterThan(count * text.length)
    socket.destroy()
    await waitForRelease(app)
  })
})

test('a reply beyond any embedding of its input is a 502, and is not read', async () => {
  const endless: Script = {
    async play(socket) {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000000\r\n\r\n{')
      return false
    },
  }
  await using scenario = await startScenario(endless, { model })
  expect(await readError(await embed(scenario.app, embeddingRequest))).toMatchObject({
    status: 502,
    message: expect.stringContaining('too large'),
  })
  expect(await scenario.acme.requests[0]?.aborted).toBe(true)
})

/** Sends the request on a connection of its own, and reads nothing of the reply. */
async function openStalledRequest(app: App, request: object): Promise<Socket> {
  const { hostname, port } = new URL(app.url)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {})
  await once(socket, 'connect')
  const body = JSON.stringify(request)
  const head = ['POST /v1/embeddings HTTP/1.1', 'host: a', `authorization: Bearer ${app.key}`]
  socket.write(`${head.join('\r\n')}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
  return socket
}
