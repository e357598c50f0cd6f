import { describe, expect, test } from 'bun:test'
import { jsonReply, streamReply } from '../../support/chat-fixtures.ts'
import { joinChunks, readStreamed } from '../../support/chat-reply.ts'
import { after, waitForQueue } from '../../support/provider-queue.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'

const { model, messages } = chatRequest
const streams: readonly (readonly [string, string, object, string])[] = [
  ['a chat completion', '/v1/chat/completions', { messages }, '"code":"provider_busy"'],
  ['a completion', '/v1/completions', { prompt: 'How high' }, '"code":"provider_busy"'],
  ['a message', '/v1/messages', { messages, max_tokens: 10 }, '"type":"rate_limit_error"'],
  ['a response', '/v1/responses', { input: 'How high is it?' }, '"code":"provider_busy"'],
]

/** One slot, which the first request has until the gate opens; streams that wait are handed over after a millisecond. */
async function startBusy(wait: string, replies: readonly Script[] = []) {
  const gate = Promise.withResolvers<void>()
  const acme = { concurrency: 1, queue: { wait } }
  const scenario = await startScenario([after(gate.promise, jsonReply()), ...replies], { acme, patience: 1 })
  const first = scenario.app.chat(chatRequest)
  await scenario.acme.request(0)
  return { scenario, first, open: gate.resolve }
}

function send({ app }: Scenario, path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return app.request(path, { method: 'POST', body: { model, stream: true, ...body }, signal })
}

/** Reads the body until it contains the text; returns what was read. */
async function readUntil(body: ReadableStream<Uint8Array> | null, part: string): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body!.getReader()
  for (let text = ''; ;) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`“${part}” never came: ${text}`)
    text += decoder.decode(value, { stream: true })
    if (text.includes(part)) return text
  }
}

describe.concurrent('a stream that waits for a slot of its provider', () => {
  test('has its headers and comments before, and then its chunks', async () => {
    const { scenario, first, open } = await startBusy('60s', [streamReply()])
    await using _ = scenario
    const reply = await send(scenario, '/v1/chat/completions', { messages })
    expect(reply.headers.get('server-timing')).toMatch(/^queue;dur=[\d.]+$/)
    expect(reply.headers.get('x-weir-route')).toBeNull()
    const [kept, read] = reply.body!.tee()
    expect(await readUntil(kept, '\n\n')).toBe(': keep-alive\n\n')
    open()
    const { chunks, done } = await readStreamed(new Response(read))
    expect([done, joinChunks(chunks)[0]?.text, chunks[0]?.provider]).toEqual([
      true,
      'It is four metres.',
      'acme',
    ])
    await (await first).text()
  })

  test.each(streams)('ends %s with an error frame if it has waited too long', async (_, path, body, code) => {
    const { scenario, first, open } = await startBusy('300ms')
    await using _scenario = scenario
    const reply = await send(scenario, path, body)
    expect([reply.status, reply.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    const frames = (await reply.text())
      .split('\n\n')
      .filter((frame) => frame !== '' && !frame.startsWith(':'))
    expect(frames.filter((frame) => !frame.startsWith('event: ping'))).toEqual([
      expect.stringContaining(code),
    ])
    open()
    await (await first).text()
  })

  test('gives up its place at once when its client leaves', async () => {
    const { scenario, first, open } = await startBusy('60s')
    await using _ = scenario
    const leaving = new AbortController()
    const reply = await send(scenario, '/v1/chat/completions', { messages }, leaving.signal)
    await readUntil(reply.body, ': keep-alive\n\n')
    await waitForQueue(scenario.app, 1)
    leaving.abort()
    await waitForQueue(scenario.app, 0)
    open()
    await (await first).text()
    expect(scenario.acme.requests).toHaveLength(1)
  })

  test('is interrupted when the gateway stops', async () => {
    const { scenario, first, open } = await startBusy('60s')
    await using _ = scenario
    const reply = await send(scenario, '/v1/chat/completions', { messages })
    scenario.app.runtime.drain()
    await waitForQueue(scenario.app, 1)
    expect(scenario.app.runtime.abortCalls()).toBe(2)
    expect((await readStreamed(reply)).error?.code).toBe('interrupted')
    await first.catch(() => {})
    open()
    await scenario.app.runtime.drained()
  })
})
