import { describe, expect, test } from 'bun:test'
import { sealState } from '../../../src/domain/generation/sealed-state.ts'
import { jsonReply } from '../../support/chat-fixtures.ts'
import { sharedDatabase } from '../../support/limits.ts'
import {
  anthropicReply,
  messageRequest,
  readMessage,
  sendMessage,
  startAnthropicScenario,
} from '../../support/messages.ts'
import { providerKey, startScenario } from '../../support/scenario.ts'

const user = (content: unknown) => ({ role: 'user', content })
const text = { type: 'text', text: 'Hi' }

/** JSON that nests so deep. */
const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`

describe('a hostile body is answered with a 4xx, or served', () => {
  const request = JSON.stringify(messageRequest).slice(0, -1)
  const tools = Array.from({ length: 3000 }, (_, index) => ({ name: `f${index}`, input_schema: {} }))
  const sealed = sealState({
    provider: 'acme',
    state: { reasoning: 'x', thinking_blocks: { a: 1 }, __proto__: null },
  })
  const call = { type: 'tool_use', id: 'a', name: 'f', input: {} }
  test.each<readonly [string, string | object]>([
    ['deeply nested JSON', `${request},"x":${nested(10_000)}}`],
    [
      'JSON nested as deep as allowed',
      `${request},"tools":[{"name":"f","input_schema":{"a":${nested(480)}}}]}`,
    ],
    ['a property named __proto__', `${request},"__proto__":{"stream":true},"metadata":{"__proto__":1}}`],
    ['thousands of tools', { ...messageRequest, tools }],
    [
      'thousands of blocks',
      { ...messageRequest, messages: [user(Array.from({ length: 20_000 }, () => text))] },
    ],
    [
      'thousands of messages',
      { ...messageRequest, messages: Array.from({ length: 10_000 }, () => user('Hi')) },
    ],
    [
      'a result without its call',
      { ...messageRequest, messages: [user([{ type: 'tool_result', tool_use_id: 'x' }])] },
    ],
    ['lone surrogates', { ...messageRequest, messages: [user('\ud800')] }],
    [
      'a forged state',
      {
        ...messageRequest,
        messages: [
          { role: 'assistant', content: [{ type: 'thinking', thinking: '', signature: sealed }, call] },
          user('Hi'),
        ],
      },
    ],
    [
      'blocks of unknown types',
      { ...messageRequest, messages: [user([{ type: 'constructor' }, { type: '' }])] },
    ],
    ['a null', 'null'],
    ['huge numbers', `${request},"max_tokens":1e999}`],
  ])('%s', async (_, body) => {
    for (const kind of ['openai-compatible', 'anthropic', 'gemini']) {
      const reply = kind === 'anthropic' ? anthropicReply([text]) : jsonReply()
      await using scenario = await startScenario(reply, { provider: { kind } })
      const { status } = await sendMessage(scenario.app, body as object)
      // The script replies in the form of chat completions, which is no reply of Gemini.
      const allowed = kind === 'gemini' ? [400, 502] : [200, 400]
      expect(allowed).toContain(status)
      expect((await scenario.app.request('/livez')).status).toBe(200)
    }
  })
})

test('a caller cannot replace the key or the headers of the provider', async () => {
  await using scenario = await startAnthropicScenario(anthropicReply([text]))
  const headers = {
    'anthropic-beta': 'x',
    'anthropic-version': 'x/1999-01-01',
    'x-other': 'y',
    cookie: 'a=b',
  }
  await readMessage(await sendMessage(scenario.app, messageRequest, { headers }))
  const [sent] = scenario.acme.requests
  expect(sent?.headers.get('x-api-key')).toBe(providerKey)
  expect(sent?.headers.get('anthropic-version')).toBe('2023-06-01')
  for (const name of ['authorization', 'cookie', 'x-other'])
    expect([name, sent?.headers.get(name)]).toEqual([name, null])
})

test('the state of a tool call of another organization is not restored', async () => {
  const { location, keyOf } = await sharedDatabase()
  const thinking = { type: 'thinking', thinking: 'Secret.', signature: 'EqQB' }
  const call = { type: 'tool_use', id: 'toolu_01A09q90qw90lq917835lq9', name: 'f', input: {} }
  const script = anthropicReply([thinking, call], { stop_reason: 'tool_use' })
  await using scenario = await startAnthropicScenario(script, { database: location })
  await readMessage(await sendMessage(scenario.app))
  const result = { type: 'tool_result', tool_use_id: call.id, content: '4' }
  const messages = [...messageRequest.messages, { role: 'assistant', content: [call] }, user([result])]
  const headers = await keyOf('stranger')
  await readMessage(await sendMessage(scenario.app, { ...messageRequest, messages }, { headers }))
  expect(JSON.stringify(scenario.acme.requests[1]?.body)).not.toContain('Secret.')
})

test('keys and prompts of messages never reach the log', async () => {
  await using scenario = await startAnthropicScenario(anthropicReply([text]))
  const { app } = scenario
  const secret = 'the-secret-prompt'
  await sendMessage(app, { ...messageRequest, system: secret, messages: [user(secret)] })
  await sendMessage(app, { ...messageRequest, messages: [{ role: secret, content: secret }] })
  await sendMessage(app, messageRequest, { headers: { authorization: null, 'x-api-key': `${app.key}x` } })
  await app.requestLines.beyond(2)
  const logged = [...app.lines, ...app.requestLines.all].join('\n')
  expect(logged).not.toContain(secret)
  expect(logged).not.toContain(app.key.slice(-20))
})
