import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ChatCompletion } from '../../../src/api/chat-completions/reply-schema.ts'
import { readStreamed } from '../../support/chat-reply.ts'
import { chatRequest, type Scenario, startScenario } from '../../support/scenario.ts'
import { events, json } from '../../support/script.ts'

/** What took minutes takes a fraction of a second; this is enough for a busy machine. */
const deadline = 120_000

const count = 10_000

/** A provider of each wire, and of each way in which a dialect of chat completions ignores things. */
const providers = [
  ['openai', 'openai-chat', {}],
  ['groq', 'openai-chat', {}],
  ['mistral', 'openai-chat', {}],
  ['deepseek', 'openai-chat', {}],
  ['openrouter', 'openai-chat', {}],
  ['perplexity', 'openai-chat', {}],
  ['xai', 'openai-chat', {}],
  ['openai-compatible', 'openai-chat', {}],
  ['anthropic', 'anthropic', {}],
  ['gemini', 'gemini', {}],
  ['openai', 'responses', { api: 'responses' }],
] as const

function numbered(length: number, make: (index: number) => readonly [string, unknown]): object {
  return Object.fromEntries(Array.from({ length }, (_, index) => make(index)))
}

function listed<Item>(length: number, make: (index: number) => Item): Item[] {
  return Array.from({ length }, (_, index) => make(index))
}

const extras = numbered(count, (index) => [`extra_${index}`, index])
const hello = { role: 'user', content: 'Hello' }
const tool = (index: number) => ({
  type: 'function',
  function: { name: `tool_${index}`, strict: true, parameters: { type: 'object', minProperties: 1 } },
})
const call = (index: number) => ({
  id: `call_${index}`,
  type: 'function',
  function: { name: `tool_${index}`, arguments: 'no JSON' },
})
const result = (index: number) => ({ role: 'tool', tool_call_id: `call_${index}`, content: 'Done' })
const parts = (make: (index: number) => object) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }, ...listed(count, make)] }],
})

const shapes = {
  'properties of the body': extras,
  'properties of a message': { messages: [{ ...hello, ...extras }] },
  'properties of many messages': {
    messages: listed(count, (index) => ({ ...hello, name: `n${index}`, [`extra_${index}`]: 1 })),
  },
  'properties of parts': parts((index) => ({ type: 'text', text: 'a', [`extra_${index}`]: 1 })),
  'part types': parts((index) => ({ type: `type_${index}` })),
  'part types of an assistant': {
    messages: [{ role: 'assistant', content: listed(count, (index) => ({ type: `type_${index}` })) }, hello],
  },
  'tool calls, results and tools': {
    messages: [
      hello,
      { role: 'assistant', content: '', tool_calls: listed(count / 2, call) },
      ...listed(count / 2, result),
    ],
    tools: listed(count / 4, tool),
  },
  'keys of logit_bias': { logit_bias: numbered(count, (index) => [String(index), 1]) },
  'names of 128 kB': numbered(12, (index) => [`${index}`.padEnd(128 * 1024, 'x'), 1]),
}

/** They are merged, which is the work of a protocol and not of a dialect. */
const mergedShapes = {
  'messages of one side': { messages: listed(25_000, () => hello) },
  'parts of one system message': {
    messages: [{ role: 'system', content: listed(25_000, () => ({ type: 'text', text: 'a' })) }, hello],
  },
}

/** The shapes to send to a provider: those to merge only to the first one of its protocol. */
function shapesFor(kind: string, protocol: string): [name: string, body: object][] {
  const first = providers.find(([, other]) => other === protocol)
  return Object.entries({ ...shapes, ...(first?.[0] === kind && mergedShapes) })
}

describe.each(providers)('a request to %s over the %s protocol', (kind, protocol, settings) => {
  let scenario: Scenario
  beforeAll(async () => {
    const providerReply = json(await Bun.file(`test/fixtures/${protocol}/text.json`).text())
    const options = { acme: { kind, ...settings }, settings: { unsupported_parameters: 'drop' as const } }
    scenario = await startScenario(providerReply, options)
  })
  afterAll(() => scenario[Symbol.asyncDispose]())

  test.each(shapesFor(kind, protocol))(
    'with thousands of %s is answered immediately, with few and short warnings',
    async (_, body) => {
      const reply = await scenario.app.chat({ ...chatRequest, ...body })
      const { warnings = [], choices } = (await reply.json()) as ChatCompletion
      expect(choices[0]?.message.content).toContain('weir')
      expectBounded(warnings)
    },
    deadline,
  )
})

function expectBounded(warnings: readonly string[]): void {
  expect(warnings.length).toBeLessThanOrEqual(32)
  for (const warning of warnings) {
    expect(warning.length).toBeLessThan(1000)
    expect(warning.split('`').length).toBeLessThanOrEqual(2 * 8 + 1)
  }
}

describe('many ignored properties', () => {
  const message =
    'Properties `messages[].extra_0`, `messages[].extra_1`, `messages[].extra_2`, `messages[].extra_3`, ' +
    '`messages[].extra_4`, `messages[].extra_5`, `messages[].extra_6`, `messages[].extra_7` and 9,992 others ' +
    'are not supported by groq and were ignored.'
  const wide = { messages: [{ ...hello, ...extras }] }
  const complete = Bun.file('test/fixtures/openai-chat/text.json').text()
  const streamed = Bun.file('test/fixtures/openai-chat/text.sse').text()

  test('are one warning in a reply, in a stream, and in a stored completion', async () => {
    const scripts = [json(await complete), events([await streamed])]
    await using scenario = await startScenario(scripts, { acme: { kind: 'groq' } })
    const reply = await scenario.app.chat({ ...chatRequest, ...wide, store: true })
    const { id, warnings } = (await reply.json()) as ChatCompletion
    expect(warnings).toEqual([message])
    const { chunks } = await readStreamed(await scenario.app.chat({ ...chatRequest, ...wide, stream: true }))
    expect(chunks[0]).toMatchObject({ warnings: [message] })
    const stored = await scenario.app.request(`/v1/chat/completions/${id}`)
    expect(((await stored.json()) as ChatCompletion).warnings).toEqual([message])
  })

  test('are one warning in a response, streamed and stored too', async () => {
    const scripts = [json(await complete), events([await streamed])]
    await using scenario = await startScenario(scripts, { acme: { kind: 'mistral' } })
    const input = [...listed(count, (index) => ({ type: `type_${index}` })), hello]
    const body = { model: chatRequest.model, input, include: listed(count, String), ...extras }
    const reply = await scenario.app.request('/v1/responses', { body })
    const { id, warnings = [] } = (await reply.json()) as { id: string; warnings?: string[] }
    expect(warnings).toHaveLength(3)
    expectBounded(warnings)
    const stored = await scenario.app.request(`/v1/responses/${id}`)
    expect(await stored.json()).toMatchObject({ id, warnings })
    const stream = await scenario.app.request('/v1/responses', { body: { ...body, stream: true } })
    const frames = (await stream.text()).split('\n\n')
    const last = JSON.parse(frames.at(-2)?.split('data: ')[1] ?? '{}')
    expect(last).toMatchObject({ type: 'response.completed', response: { warnings } })
  })
})
