import { connect } from 'node:net'
import { describe, expect, test } from 'bun:test'
import type { App } from '../../support/app.ts'
import { chunks, delta, chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readError, readStreamed } from '../../support/chat-reply.ts'
import { waitUntil } from '../../support/billing-database.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import { breakOff, json, type Script, silence } from '../../support/script.ts'

/** The prompt of `question`, as it is estimated: 4 for the message and 4 for its 15 characters. */
const prompt = 8
/** The same of a caller who leaves before a provider has counted it. */
const leftPrompt = 22
const perMinute = 1000

const used = { usage: { prompt_tokens: 100, completion_tokens: 200, total_tokens: 300 } }

/** A gateway that allows 1000 tokens a minute and two calls at once, on a clock that stands. */
function startLimited(scripts: Script | readonly Script[], options: ScenarioOptions = {}) {
  const limits = { tokens_per_minute: perMinute, concurrent_requests: 2, requests_per_minute: 100_000 }
  return startScenario(scripts, { settings: { limits }, clock: () => 0, ...options })
}

/** What another request is told of the tokens that are left. */
async function tokensLeft(app: App): Promise<number> {
  return receivedTokens(await app.request('/v1/models'))
}

function receivedTokens({ headers }: Response): number {
  return Number(headers.get('x-ratelimit-remaining-tokens'))
}

describe('the token limit', () => {
  test('is debited by a complete reply with its counted tokens, as its headers report', async () => {
    await using scenario = await startLimited(jsonReply(chatOutput({}, used)))
    const reply = await scenario.app.chat(chatRequest)
    expect(receivedTokens(reply)).toBe(perMinute - 300)
    expect(reply.headers.get('x-ratelimit-reset-tokens')).toBe('18s')
    expect(await tokensLeft(scenario.app)).toBe(perMinute - 300)
  })

  test('is debited by a stream with its estimate at the start, and corrected at its end', async () => {
    await using scenario = await startLimited(streamReply(chatOutput({}, used)))
    const reply = await scenario.app.chat({ ...chatRequest, stream: true })
    expect(receivedTokens(reply)).toBe(perMinute - prompt)
    expect((await readStreamed(reply)).done).toBe(true)
    expect(await tokensLeft(scenario.app)).toBe(perMinute - 300)
  })

  test('is not debited by requested but unused tokens', async () => {
    await using scenario = await startLimited(jsonReply(chatOutput({}, used)))
    expect(receivedTokens(await scenario.app.chat({ ...chatRequest, max_tokens: 900 }))).toBe(perMinute - 300)
  })

  test('rejects a call before the provider is called, once it is used up', async () => {
    await using scenario = await startLimited(
      jsonReply(chatOutput({}, { usage: { ...used.usage, completion_tokens: 900 } })),
    )
    expect((await scenario.app.chat(chatRequest)).status).toBe(200)
    const refused = await scenario.app.chat(chatRequest)
    expect(refused.headers.get('retry-after-ms')).toBe(String((prompt * 60_000) / perMinute))
    expect(await readError(refused)).toMatchObject({
      status: 429,
      type: 'tokens',
      code: 'rate_limit_exceeded',
    })
    expect(scenario.acme.requests.length).toBe(1)
    expect((await scenario.app.request('/v1/models')).status).toBe(200)
  })

  test.each<[string, Script, boolean]>([
    ['is refunded for a call that failed', json({ error: { message: 'No.' } }, { status: 400 }), false],
    ['is refunded for a stream that failed before it began', json('', { status: 500 }), true],
  ])('%s', async (_, script, stream) => {
    await using scenario = await startLimited(script)
    await (await scenario.app.chat({ ...chatRequest, stream })).text()
    expect(await tokensLeft(scenario.app)).toBe(perMinute)
  })

  test('is debited by a broken stream with its prompt and its received output', async () => {
    const gate = Promise.withResolvers<void>()
    await using scenario = await startLimited(
      chunks([delta({ content: 'eight ch' }), gate.promise], breakOff),
    )
    const reply = await scenario.app.chat({ ...chatRequest, stream: true })
    // The reply is there once the first piece has come.
    gate.resolve()
    expect((await readStreamed(reply)).done).toBe(false)
    expect(await tokensLeft(scenario.app)).toBe(perMinute - prompt - 2)
  })

  test('is debited once by a call that failed over to another route', async () => {
    const options = { other: [jsonReply(chatOutput({}, used))] }
    await using scenario = await startLimited(json('', { status: 500 }), options)
    expect(receivedTokens(await scenario.app.chat(chatRequest))).toBe(perMinute - 300)
  })
})

describe('the concurrency limit', () => {
  test('bounds open calls, and a call that ends frees its slot', async () => {
    const gate = Promise.withResolvers<void>()
    const held = chunks([delta({ content: 'It ' }), gate.promise, delta({}, 'stop'), 'data: [DONE]\n\n'])
    await using scenario = await startLimited([held, held, jsonReply(chatOutput())])
    const { app } = scenario
    const streams = await Promise.all([1, 2].map(() => app.chat({ ...chatRequest, stream: true })))
    const refused = await app.chat(chatRequest)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await readError(refused)).toMatchObject({
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
    })
    expect((await app.request('/v1/models')).status).toBe(200)
    gate.resolve()
    for (const stream of streams) expect((await readStreamed(stream)).done).toBe(true)
    expect((await app.chat(chatRequest)).status).toBe(200)
  })

  test.each<[string, Script, object, number]>([
    ['before the first byte', silence, { stream: true }, leftPrompt],
    ['during a reply that is not streamed', silence, {}, leftPrompt],
    [
      'in the middle of a stream',
      chunks([delta({ content: 'eight ch' }), Promise.withResolvers<void>().promise]),
      { stream: true },
      leftPrompt + 4,
    ],
  ])(
    'a client that disconnects %s frees its concurrency slot, and its tokens count',
    async (_, script, more, debited) => {
      await using scenario = await startLimited([script, script, jsonReply(chatOutput({}, used))])
      const { app, acme } = scenario
      const aborting = new AbortController()
      for (const place of [0, 1]) {
        const reply = app.chat({ ...chatRequest, ...more }, { signal: aborting.signal })
        reply.catch(() => {})
        await acme.request(place)
        if (script !== silence) await (await reply).body?.getReader().read()
      }
      expect((await app.chat(chatRequest)).status).toBe(429)
      aborting.abort()
      expect(await Promise.all(acme.requests.map(({ aborted: left }) => left))).toEqual([true, true])
      // The time in which nothing was seen comes on top.
      expect(await tokensLeft(app)).toBeWithin(perMinute - 2 * (debited + 300), perMinute - 2 * debited + 1)
      expect((await app.chat(chatRequest)).status).toBe(200)
    },
  )

  test('clients that disconnect at any moment free every concurrency slot', async () => {
    const limits = { concurrent_requests: 1, tokens_per_minute: 1e9, requests_per_minute: 1e6 }
    await using scenario = await startScenario(streamReply(), { settings: { limits }, clock: () => 0 })
    const { app } = scenario
    for (let round = 0; round < 120; round++) await leaveAfter(round, app)
    const isServed = async () => (await app.chat({ ...chatRequest, stream: true })).status === 200
    await waitUntil(isServed, 'the end of the calls')
  })
})

/** Sends a question and breaks the connection so many turns of the loop later. */
async function leaveAfter(turns: number, app: App): Promise<void> {
  const body = JSON.stringify({ ...chatRequest, stream: true })
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.key}\r\n`
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.on('error', () => {})
  socket.write(`${head}content-length: ${body.length}\r\n\r\n${body}`)
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
  socket.destroy()
  await new Promise((resolve) => socket.once('close', resolve))
}
