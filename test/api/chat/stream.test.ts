import { describe, expect, test } from 'bun:test'
import { Compile } from 'typebox/compile'
import { ChatCompletion, ChatCompletionChunk } from '../../../src/api/chat-completions/reply-schema.ts'
import { chatOutput, streamReply, jsonReply } from '../../support/chat-fixtures.ts'
import { readStreamed, type StreamedReply } from '../../support/chat-reply.ts'
import { chatRequest, type ScenarioOptions, startScenario } from '../../support/scenario.ts'
import type { Script } from '../../support/script.ts'

const chunk = Compile(ChatCompletionChunk)
const completion = Compile(ChatCompletion)

const calls = [{ id: 'call_1', name: 'read_level', arguments: ['{}'] }]
const twoChoices = chatOutput(
  {},
  { choices: [1, 2].map(() => ({ text: ['a', 'b'], calls, finish: 'tool_calls' })) },
)

async function replyTo(script: Script, body: object, options: ScenarioOptions = {}): Promise<StreamedReply> {
  await using scenario = await startScenario(script, options)
  return await readStreamed(await scenario.app.chat({ ...chatRequest, stream: true, ...body }))
}

const withUsage = { stream_options: { include_usage: true } }

describe('a chat completion stream', () => {
  test('matches the documented schema in every chunk, as does the complete reply', async () => {
    await using scenario = await startScenario([streamReply(twoChoices), jsonReply(twoChoices)])
    const stream = await readStreamed(await scenario.app.chat({ ...chatRequest, stream: true, ...withUsage }))
    expect(stream.chunks.filter((one) => !chunk.Check(one))).toEqual([])
    expect(stream.chunks.length).toBeGreaterThan(8)
    expect(completion.Check(await (await scenario.app.chat(chatRequest)).json())).toBe(true)
  })

  test('has the same id, time, model and provider in all chunks', async () => {
    const { chunks } = await replyTo(streamReply(twoChoices), withUsage)
    const facts = new Set(
      chunks.map(({ id, object, created, model, provider }) =>
        JSON.stringify([id, object, created, model, provider]),
      ),
    )
    expect(facts.size).toBe(1)
    expect(chunks[0]).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-[0-9A-Za-z]{20,}$/),
      object: 'chat.completion.chunk',
      model: 'acme/river',
      provider: 'acme',
    })
    expect(Math.abs((chunks[0]?.created ?? 0) - Date.now() / 1000)).toBeLessThan(60)
  })

  test('emits the role first and the finish reason last, once for each choice', async () => {
    const { chunks } = await replyTo(streamReply(twoChoices), {})
    for (const number of [0, 1]) {
      const own = chunks.flatMap(({ choices }) => choices.filter(({ index }) => index === number))
      expect(own[0]).toEqual({
        index: number,
        delta: { role: 'assistant', content: '' },
        finish_reason: null,
      })
      expect(own.at(-1)).toEqual({ index: number, delta: {}, finish_reason: 'tool_calls' })
      expect(own.slice(1).filter(({ delta }) => 'role' in delta)).toEqual([])
      expect(own.slice(0, -1).filter(({ finish_reason }) => finish_reason !== null)).toEqual([])
    }
    expect(chunks.filter(({ choices }) => choices.length !== 1)).toEqual([])
  })

  test('reports usage once, in a last chunk without choices, and null before', async () => {
    const { chunks, text } = await replyTo(streamReply(), withUsage)
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
    })
    expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual(chunks.slice(1).map(() => null))
    expect(text.match(/"usage":\{/g)).toHaveLength(1)
  })

  test.each([
    [{}],
    [{ stream_options: {} }],
    [{ stream_options: { include_usage: false } }],
    [{ stream_options: null }],
  ])('has no usage field where usage was not requested: %j', async (body) => {
    const { text, done } = await replyTo(streamReply(), body)
    expect(text).not.toContain('usage')
    expect(done).toBe(true)
  })

  test('ends with one [DONE] frame', async () => {
    const { text } = await replyTo(streamReply(twoChoices), withUsage)
    expect(text).toEndWith('}\n\ndata: [DONE]\n\n')
    expect(text.match(/\[DONE\]/g)).toHaveLength(1)
    expect(text).not.toMatch(/^event:/m)
  })

  test('has the headers of an event stream that must not be buffered', async () => {
    const { status, headers } = await replyTo(streamReply(), {})
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(headers.get('x-accel-buffering')).toBe('no')
    expect(headers.get('x-request-id')).toMatch(/^req_/)
  })

  test('has warnings and the performance mode in its first chunk only', async () => {
    const { chunks } = await replyTo(streamReply(), { logprobs: true })
    expect(chunks[0]?.warnings).toEqual([expect.stringContaining('Log probabilities')])
    expect(chunks[0]?.performance_mode).toBe('standard')
    expect(chunks.slice(1).filter((one) => 'warnings' in one || 'performance_mode' in one)).toEqual([])
  })

  test('shows nothing of the provider’s identity', async () => {
    const { text, headers } = await replyTo(streamReply(), withUsage)
    expect(text).not.toMatch(/upstream-1|upstream-model|river-1/)
    expect(JSON.stringify(headers.toJSON())).not.toContain('Scripted')
  })
})
