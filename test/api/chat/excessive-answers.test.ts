import { describe, expect, test } from 'bun:test'
import { maxBlocks, maxStateBlocks, maxToolCalls } from '../../../src/domain/generation/answer.ts'
import { readError } from '../../support/chat-reply.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { events, json } from '../../support/script.ts'

/** How a protocol writes tool calls: complete, and as a frame of its stream that begins the call of this index. */
type CallWriter = {
  readonly settings: { readonly kind: string; readonly api?: 'responses' }
  complete(count: number): object
  frame(index: number): object
  readonly last: readonly object[]
}

const listed = <Item>(count: number, make: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => make(index))

const openai: CallWriter = {
  settings: { kind: 'openai-compatible' },
  complete: (count) => ({
    choices: [
      {
        index: 0,
        message: { role: 'assistant', tool_calls: listed(count, openaiCall) },
        finish_reason: 'stop',
      },
    ],
  }),
  frame: (index) => ({ choices: [{ index: 0, delta: { tool_calls: [openaiCall(index)] } }] }),
  last: [{ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] }],
}

function openaiCall(index: number): object {
  return { index, id: `call_x${index}y`, type: 'function', function: { name: 'f', arguments: '{}' } }
}

const anthropic: CallWriter = {
  settings: { kind: 'anthropic' },
  complete: (count) => ({ type: 'message', content: listed(count, toolUse), stop_reason: 'tool_use' }),
  frame: (index) => ({ type: 'content_block_start', index, content_block: toolUse(index) }),
  last: [{ type: 'message_delta', delta: { stop_reason: 'tool_use' } }, { type: 'message_stop' }],
}

function toolUse(index: number): object {
  return { type: 'tool_use', id: `toolu_x${index}y`, name: 'f', input: {} }
}

const gemini: CallWriter = {
  settings: { kind: 'gemini' },
  complete: (count) => candidate(listed(count, () => functionCall)),
  frame: () => candidate([functionCall]),
  last: [candidate([], 'STOP')],
}

const functionCall = { functionCall: { name: 'f', args: {} } }

function candidate(parts: readonly object[], finishReason?: string): object {
  return { candidates: [{ index: 0, content: { parts }, finishReason }] }
}

const responses: CallWriter = {
  settings: { kind: 'openai', api: 'responses' },
  complete: (count) => ({ status: 'completed', output: listed(count, responseCall) }),
  frame: (index) => ({ type: 'response.output_item.done', output_index: index, item: responseCall(index) }),
  last: [{ type: 'response.completed', response: { status: 'completed', output: [] } }],
}

function responseCall(index: number): object {
  return { type: 'function_call', id: `fc_${index}`, call_id: `call_x${index}y`, name: 'f', arguments: '{}' }
}

const writers = { openai, anthropic, gemini, responses }

const tools = [{ type: 'function', function: { name: 'f' } }]
const flatTools = [{ type: 'function', name: 'f' }]
const message = { role: 'user', content: 'Hello' }

/** The APIs that render tool calls. */
const requests = {
  chat: ['/v1/chat/completions', { ...chatRequest, tools }],
  responses: ['/v1/responses', { model: chatRequest.model, input: 'Hello', tools: flatTools }],
  messages: [
    '/v1/messages',
    {
      model: chatRequest.model,
      max_tokens: 100,
      messages: [message],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    },
  ],
} as const

function start(settings: object, reply: Parameters<typeof startScenario>[0]): Promise<Scenario> {
  const compatibility = { function_tools: true }
  return startScenario(reply, { acme: settings, settings: { retries: { attempts: 0 }, compatibility } })
}

function frames(values: readonly object[]): string[] {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`)
}

const excessive = 'its response has more than 1024 tool calls'

describe.each(Object.entries(writers))('a provider (%s)', (_, writer) => {
  describe.each(Object.entries(requests))('of a request to %s', (api, [path, body]) => {
    test('that begins too many tool calls in a complete answer has failed', async () => {
      await using scenario = await start(writer.settings, json(writer.complete(20_000)))
      const reply = await scenario.app.request(path, { body })
      expect([reply.status, await reply.text()]).toEqual([502, expect.stringContaining(excessive)])
    })

    test('that begins too many tool calls in a stream has failed, and the stream is aborted', async () => {
      const script = events(frames(listed(2000, writer.frame)), () => false)
      await using scenario = await start(writer.settings, script)
      const reply = await scenario.app.request(path, { body: { ...body, stream: true } })
      const text = await reply.text()
      expect(text).toContain(excessive)
      expect(text).not.toMatch(/\[DONE\]|response\.completed|message_stop/)
      expect(await scenario.acme.requests[0]?.aborted).toBe(true)
    })

    test('may make as many as are allowed', async () => {
      const values = [...listed(maxToolCalls, writer.frame), ...writer.last]
      await using scenario = await start(writer.settings, events(frames(values)))
      const reply = await scenario.app.request(path, { body: { ...body, stream: true } })
      const text = await reply.text()
      expect(text).not.toContain('"error":{')
      const begins = { chat: '"function"', responses: 'response.output_item.added', messages: '"tool_use"' }
      const begin = begins[api as keyof typeof begins]
      expect(text.split(begin).length - 1).toBeGreaterThanOrEqual(maxToolCalls)
    })
  })
})

test('an answer that changes between text and reasoning too often has failed', async () => {
  const pieces = listed(maxBlocks + 2, (index) => ({
    choices: [{ index: 0, delta: index % 2 === 0 ? { content: 'a' } : { reasoning_content: 'b' } }],
  }))
  await using scenario = await start(
    openai.settings,
    events(frames(pieces), () => false),
  )
  const text = await (await scenario.app.chat({ ...chatRequest, stream: true })).text()
  expect(text).toContain(`its response has more than ${maxBlocks} blocks`)
  const complete = json(await Bun.file('test/fixtures/openai-chat/text.json').text())
  scenario.acme.respondWith(complete)
  expect((await scenario.app.chat(chatRequest)).status).toBe(200)
})

test('an answer with more reasoning details than any model sends has failed', async () => {
  const details = listed(maxStateBlocks + 1, (index) => ({ type: 'reasoning.encrypted', index, data: 'a' }))
  const body = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'a', reasoning_details: details } }],
  }
  await using scenario = await start({ kind: 'openrouter' }, json(body))
  const error = await readError(await scenario.app.chat(chatRequest))
  expect(error).toMatchObject({ status: 502, code: 'upstream_unavailable' })
  expect(error.message).toContain(`more than ${maxStateBlocks} blocks of reasoning`)
})
