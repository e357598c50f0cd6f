import { describe, expect, test } from 'bun:test'
import { imageReply, imageServer, png } from '../../unit/gateway/support/image-server.ts'
import { chatOutput, jsonReply } from '../../support/chat-fixtures.ts'
import { readError } from '../../support/chat-reply.ts'
import { heldBytes, waitForRelease } from '../../support/memory.ts'
import { chatRequest, startScenario } from '../../support/scenario.ts'
import { json, silence } from '../../support/script.ts'

const bytes = png.toString('base64')
const failed = json({ error: { message: 'No.' } }, { status: 500 })
const candidates = [{ content: { parts: [{ text: 'A weir.' }] }, finishReason: 'STOP' }]
const geminiAnswer = json({ candidates, usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 } })
const claudeAnswer = json({
  type: 'message',
  content: [{ type: 'text', text: 'A weir.' }],
  stop_reason: 'end_turn',
})

const gemini = { acme: { kind: 'gemini' } }

function showing(...urls: readonly string[]) {
  const images = urls.map((url) => ({ type: 'image_url', image_url: { url } }))
  return {
    ...chatRequest,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, ...images] }],
  }
}

describe('an image URL', () => {
  test('counts towards the memory budget of requests, and is rejected with 503 beyond it', async () => {
    const large = Buffer.concat([png, Buffer.alloc(600_000)])
    using server = imageServer(() => imageReply(large))
    const settings = { memory: { in_flight: '1MiB' } }
    const options = { ...gemini, settings, images: server.surroundings }
    await using scenario = await startScenario([silence, geminiAnswer], options)
    const { app, acme } = scenario
    const aborting = new AbortController()
    const first = app.chat(showing(server.url('/a.png')), { signal: aborting.signal }).catch(() => {})
    await acme.request(0)
    expect(await heldBytes(app)).toBeGreaterThan(600_000)
    expect(await readError(await app.chat(showing(server.url('/a.png'))))).toMatchObject({ status: 503 })
    expect(acme.requests).toHaveLength(1)
    aborting.abort()
    await first
    await waitForRelease(app)
    expect((await app.chat(showing(server.url('/a.png')))).status).toBe(200)
  })

  test('is sent to Gemini as its bytes, which are fetched once for all attempts', async () => {
    using server = imageServer(() => imageReply())
    const settings = { retries: { attempts: 1 } }
    const options = { ...gemini, settings, images: server.surroundings }
    await using scenario = await startScenario([failed, geminiAnswer], options)
    const response = await scenario.app.chat(showing(server.url('/a.png'), server.url('/a.png')))
    expect(response.status).toBe(200)
    const image = { inlineData: { mimeType: 'image/png', data: bytes } }
    const contents = [{ role: 'user', parts: [{ text: 'What is it?' }, image, image] }]
    expect(scenario.acme.requests.map(({ body }) => body.contents)).toEqual([contents, contents])
    expect(server.asked).toHaveLength(1)
  })

  test.each([
    ['openai-compatible', jsonReply(chatOutput())],
    ['anthropic', claudeAnswer],
  ])('is sent to %s as a URL, and is not fetched by the gateway', async (kind, reply) => {
    using server = imageServer(() => imageReply())
    await using scenario = await startScenario(reply, { acme: { kind }, images: server.surroundings })
    expect((await scenario.app.chat(showing(server.url('/a.png')))).status).toBe(200)
    expect(scenario.acme.requests[0]?.text).toContain(server.url('/a.png'))
    expect(scenario.acme.requests[0]?.text).not.toContain(bytes)
    expect(server.asked).toEqual([])
  })

  test('is fetched only where the route that needs its bytes is called', async () => {
    using server = imageServer(() => imageReply())
    const routes = [
      { provider: 'other', model: 'river-2' },
      { provider: 'acme', model: 'river-1' },
    ]
    const options = {
      ...gemini,
      other: [jsonReply(), failed],
      model: { routes },
      images: server.surroundings,
    }
    await using scenario = await startScenario(geminiAnswer, options)
    await scenario.app.chat(showing(server.url('/a.png')))
    expect(server.asked).toEqual([])
    expect(await (await scenario.app.chat(showing(server.url('/a.png')))).json()).toMatchObject({
      provider: 'acme',
    })
    expect(server.asked).toHaveLength(1)
  })
})

describe('an image that cannot be used', () => {
  test.each([
    ['is not public', 'https://127.0.0.1/a.png'],
    ['is of the cloud itself', 'https://169.254.169.254/latest/meta-data'],
    ['is not encrypted', 'http://images.test/a.png'],
    ['is no address', 'a.png'],
  ])('is a 400 that names it, and no provider is called: it %s', async (_, url) => {
    await using scenario = await startScenario(geminiAnswer, { ...gemini, other: [jsonReply()] })
    expect(await readError(await scenario.app.chat(showing(url)))).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_image_url',
      param: 'messages[0].content[1].image_url.url',
    })
    expect([...scenario.acme.requests, ...scenario.other.requests]).toEqual([])
  })

  test('is a 400 before a stream begins, too', async () => {
    using server = imageServer(() => new Response('gone', { status: 404 }))
    await using scenario = await startScenario(geminiAnswer, { ...gemini, images: server.surroundings })
    const response = await scenario.app.chat({ ...showing(server.url('/a.png')), stream: true })
    expect(await readError(response)).toMatchObject({ status: 400, code: 'invalid_image_url' })
    expect(scenario.acme.requests).toEqual([])
  })
})
